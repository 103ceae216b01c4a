#include "ledger/records/run_ledger.h"

#include <chrono>
#include <utility>

#include "core/error/error.h"
#include "core/text/utc.h"

namespace ingot {
namespace {

// What reads one line after the other.
class RunReader {
 public:
  RunReader(const std::string& path, std::function<void(const RunEntry&)> visit)
      : path_(path), visit_(std::move(visit)) {}

  void operator()(const nlohmann::json& json) {
    ++line_;
    std::optional<RunEntry> entry;
    try {
      entry = parse_run_entry(json);
    } catch (const Error& error) {
      throw Error(ErrorCode::Data,
                  fmt::format("{}, line {}: {}; restore the ledger from a copy, or use the program "
                              "that wrote it",
                              path_, line_, error.what()));
    }
    if (entry) visit_(*entry);
  }

 private:
  std::string path_;
  std::function<void(const RunEntry&)> visit_;
  int64_t line_ = 0;  // a record is one line
};

// Older starts have no number: those are counted.
void count_starts(const RunEntry& entry, const std::string& run_id, int64_t& starts) {
  const auto* start = std::get_if<StartReport>(&entry.record);
  if (start != nullptr && start->run && *start->run != run_id)
    starts = 0;
  else if (entry.head.start)
    starts = *entry.head.start;
  else if (start != nullptr)
    ++starts;
}

}  // namespace

RecordHead head_now(std::optional<int64_t> start) {
  return {.time = format_utc(std::chrono::system_clock::now()), .start = start};
}

RunLedger::RunLedger(std::shared_ptr<Storage> storage, const std::string& path,
                     const std::string& run_id)
    : writer_(std::move(storage), path, RunReader(path, [&](const RunEntry& entry) {
                count_starts(entry, run_id, start_);
              })) {
  ++start_;
}

void RunLedger::append(const RunRecord& record) {
  writer_.append(to_json({head_now(start_), record}));
}

void for_each_run_record(Storage& storage, const std::string& path,
                         const std::function<void(const RunEntry&)>& visit) {
  for_each_record(storage, path, RunReader(path, visit));
}

}  // namespace ingot
