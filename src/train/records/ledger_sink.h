// The records of a run as its ledger keeps them.
#pragma once

#include <memory>
#include <string>

#include "core/storage/storage.h"
#include "ledger/records/run_ledger.h"
#include "train/records/record.h"

namespace ingot {

class LedgerSink final : public Sink {
 public:
  // Opens the ledger of the run folder, which is there.
  LedgerSink(std::shared_ptr<Storage> storage, const std::string& run_dir,
             const std::string& run_id);
  // What was saved is on the disk before the next record: a checkpoint is never newer than what is
  // known of it.
  void take(const RunRecord& record) override;

 private:
  RunLedger ledger_;
};

}  // namespace ingot
