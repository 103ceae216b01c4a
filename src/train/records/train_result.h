// What a training run ends with.
#pragma once

#include <optional>
#include <string>

#include "checkpoint/checkpoint.h"
#include "feed/token_counts.h"
#include "ledger/records/run_records.h"

namespace ingot {

struct TrainResult {
  RunState state;
  TokenCounts counts;
  double train_loss = 0.0;
  std::optional<EvalReport> eval;  // the last one
  std::string checkpoint;          // the last one saved
  bool stopped = false;            // before the end
};

}  // namespace ingot
