// The ledger of a run: records, each with its time and the start that wrote it.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "core/storage/storage.h"
#include "ledger/ledger.h"
#include "ledger/records/run_records.h"

namespace ingot {

inline constexpr std::string_view kRunLedgerName = "ledger.jsonl";  // in the run folder

// Only one process may write to it. Each record gets the time and the number of this start.
class RunLedger {
 public:
  // Opens or creates the file like LedgerWriter. This start's number is one more than the starts of
  // run `run_id` in the ledger; a start without an id counts as one of this run.
  RunLedger(std::shared_ptr<Storage> storage, const std::string& path, const std::string& run_id);

  void append(const RunRecord& record);
  void sync() { writer_.sync(); }

 private:
  int64_t start_ = 0;  // before writer_, which counts them
  LedgerWriter writer_;
};

// Calls `visit` with the records in order; kinds that this program does not know are skipped.
// Throws like for_each_record(), and ErrorCode::Data with the line of a record that does not match
// the declaration of its kind.
void for_each_run_record(Storage& storage, const std::string& path,
                         const std::function<void(const RunEntry&)>& visit);

// The head for a record that is written now.
RecordHead head_now(std::optional<int64_t> start);

}  // namespace ingot
