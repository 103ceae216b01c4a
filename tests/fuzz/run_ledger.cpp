// Ledgers on arbitrary bytes: records up to a torn tail, or Error; opened for writing, what was
// read stays and a record can be added; records of a run are what they were when they are written
// and read again, or Error; and the steps of the run are told, or Error. Input: one byte that says
// whether the lines get their checksums here (random bytes never have them), then the file.
#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/error/error.h"
#include "core/storage/storage.h"
#include "feed/run_steps.h"
#include "ledger/ledger.h"
#include "ledger/records/run_ledger.h"

namespace {

std::string with_checksums(std::string_view text) {
  std::string lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    lines += fmt::format("{:08x} {}\n",
                         static_cast<uint32_t>(XXH3_64bits(line.data(), line.size())), line);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

void read_and_append(const std::shared_ptr<ingot::Storage>& storage) {
  std::vector<nlohmann::json> before, after;
  ingot::for_each_record(*storage, "ledger", [&](const auto& record) { before.push_back(record); });
  {
    ingot::LedgerWriter writer(storage, "ledger");
    writer.append({{"kind", "fuzz"}});
  }
  const int64_t torn_bytes = ingot::for_each_record(
      *storage, "ledger", [&](const auto& record) { after.push_back(record); });
  if (torn_bytes != 0 || after.size() != before.size() + 1) abort();
  if (!std::equal(before.begin(), before.end(), after.begin())) abort();
}

void write_again(const ingot::RunEntry& entry) {
  const nlohmann::json json = ingot::to_json(entry);
  const auto read = ingot::parse_run_entry(json);
  if (!read || ingot::to_json(*read) != json) abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  std::string file(reinterpret_cast<const char*>(data + 1), size - 1);
  if (data[0] & 1) file = with_checksums(file);
  const auto storage = ingot::memory_storage();
  storage->create("ledger")->append(std::as_bytes(std::span(file)));
  try {
    const ingot::RunSteps run = ingot::read_run_steps(*storage, "ledger");
    if (run.num_missing < 0 || run.num_repeated < 0 || run.num_samples() < 0) abort();
    if (run.num_lost_samples() < 0) abort();
  } catch (const ingot::Error&) {
  }
  try {
    ingot::for_each_run_record(*storage, "ledger", write_again);
  } catch (const ingot::Error&) {
  }
  try {
    read_and_append(storage);
  } catch (const ingot::Error&) {
  }
  return 0;
}
