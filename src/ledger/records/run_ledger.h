// The ledger of a run: its records with who wrote them and when.
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

// The one process that writes to it. Every record gets the time, and the number of this start.
class RunLedger {
 public:
  // Opens or creates, as LedgerWriter. This start is one more than those that the ledger knows of
  // the run `run_id`; one without an id is the same run.
  RunLedger(std::shared_ptr<Storage> storage, const std::string& path, const std::string& run_id);

  void append(const RunRecord& record);
  void sync() { writer_.sync(); }

 private:
  int64_t start_ = 0;  // before writer_, which counts them
  LedgerWriter writer_;
};

// Calls `visit` with the records in order; those of kinds that this program does not know are
// passed over. Throws as for_each_record(), and ErrorCode::Data with the line of a record that is
// not as its kind is declared.
void for_each_run_record(Storage& storage, const std::string& path,
                         const std::function<void(const RunEntry&)>& visit);

// The head of a record that is written now.
RecordHead head_now(std::optional<int64_t> start);

}  // namespace ingot
