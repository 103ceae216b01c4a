// Validation loss over held-out tokens.
#pragma once

#include "data/serve/token_source.h"
#include "parallel/comm/communicator.h"
#include "spec/run_config.h"
#include "train/engine.h"
#include "train/trainer.h"

namespace ingot {

// Mean loss over the first train.eval_tokens of `source` in file order, in whole sequences, and
// bits per byte where the source knows its bytes. Every rank calls it; the result is equal on all
// and does not depend on their number.
EvalReport evaluate_loss(Engine& engine, Communicator& comm, const TokenSource& source,
                         const RunConfig& config);

}  // namespace ingot
