#include "train/records/ledger_sink.h"

#include <utility>

namespace ingot {

LedgerSink::LedgerSink(std::shared_ptr<Storage> storage, const std::string& run_dir,
                       const std::string& run_id)
    : ledger_(std::move(storage), join_path(run_dir, kRunLedgerName), run_id) {}

void LedgerSink::take(const RunRecord& record) {
  ledger_.append(record);
  if (std::holds_alternative<SavedReport>(record)) ledger_.sync();
}

}  // namespace ingot
