// The state of stages on disk, arbitrary: a folder of tasks is joined or refused, records are read
// or Error. Input: one byte that chooses the file, then its contents.
#include <array>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>

#include "core/error/error.h"
#include "core/storage/storage.h"
#include "ingest/clean/clean_report.h"
#include "ingest/dedup/dedup_report.h"
#include "ingest/tokenize/tokenize_task.h"
#include "ledger/task_folder.h"
#include "tokenizer/tokenizer.h"

namespace {

using namespace ingot;
using nlohmann::json;

void read_stage(const std::shared_ptr<Storage>& storage) {
  const json description = {{"stage", "fuzz"}, {"settings", {{"a", 1}, {"b", {1, 2}}}}};
  TaskFolder tasks(storage, "folder", description, 1);
  if (!tasks.finished()) return;
  CleanTotals totals;
  for_each_task_record<CleanRecord>(
      tasks, [&](int64_t, const CleanRecord& record) { add_record(totals, record); });
  task_record(record_of(totals));
}

void read_dedup(const std::shared_ptr<Storage>& storage) {
  TaskFolder tasks(storage, "folder", json{{"stage", "fuzz"}}, 1);
  if (tasks.finished()) write_dedup_report(*storage, "folder", json::object(), tasks);
}

void read_tokenize(const std::shared_ptr<Storage>& storage) {
  const auto tokenizer = byte_tokenizer();
  TokenizeTask task;
  task.manifest.vocab_size = tokenizer->vocab_size();
  task.manifest.sources = {{"a", 0, 0, 0}};
  task.folder = "folder";
  task.record_path = "folder/tasks/00000.json";
  run_tokenize_task(storage, task, *tokenizer, 1, {});
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  static constexpr std::array kPaths = {"folder/stage.json", "folder/tasks/00000.json"};
  const auto storage = memory_storage();
  storage->make_directories("folder/tasks");
  storage->create(kPaths[data[0] == 0 ? 0 : 1])
      ->append(std::as_bytes(std::span(data + 1, size - 1)));
  try {
    if (data[0] % 3 == 0) read_stage(storage);
    if (data[0] % 3 == 1) read_dedup(storage);
    if (data[0] % 3 == 2) read_tokenize(storage);
  } catch (const Error&) {
  }
  return 0;
}
