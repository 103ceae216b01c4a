// Validation loss over held-out tokens.
#pragma once

#include <atomic>
#include <optional>

#include "feed/sample_sources.h"
#include "feed/sample_stream.h"
#include "ledger/records/run_records.h"
#include "parallel/comm/control.h"
#include "plan/resolved_run.h"
#include "train/step/engine.h"

namespace ingot {

// Mean loss over the first train.eval_tokens of `stream`, in whole sequences and at most one pass,
// and bits per byte where its sources know their bytes; with `sources`, where they are several, the
// same of each. Every rank calls it and makes as many
// passes through the model as the others; the result is equal on all and does not depend on their
// number. Returns nothing, on all ranks, if `stop` was set meanwhile on one. Throws
// ErrorCode::Numeric, naming the first activation that is not finite, if the loss is not.
// `timeout`: how long a rank waits for the others, each time.
std::optional<EvalReport> evaluate_loss(Engine& engine, Control& control,
                                        const SampleStream& stream, const ResolvedRun& run,
                                        const std::atomic<bool>* stop = nullptr,
                                        Timeout timeout = kDefaultTimeout,
                                        const SampleSources* sources = nullptr);

}  // namespace ingot
