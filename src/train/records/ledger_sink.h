// Writes the records of a run to its ledger.
#pragma once

#include <memory>
#include <string>

#include "core/storage/storage.h"
#include "ledger/records/run_ledger.h"
#include "train/records/record.h"

namespace ingot {

class LedgerSink final : public Sink {
 public:
  // Opens the ledger of the run folder, which exists.
  LedgerSink(std::shared_ptr<Storage> storage, const std::string& run_dir,
             const std::string& run_id);
  // Syncs the record of a checkpoint at once, so that no checkpoint is newer than the ledger.
  void take(const RunRecord& record) override;

 private:
  RunLedger ledger_;
};

}  // namespace ingot
