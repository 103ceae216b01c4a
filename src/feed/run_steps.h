// Which samples a run trained on, from its ledger.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/storage/storage.h"
#include "feed/data_identity.h"
#include "feed/token_counts.h"

namespace ingot {

// Consecutive steps that took the same number of samples each, without gaps between them.
struct StepRange {
  int64_t first_step = 0;  // steps count from 1
  int64_t num_steps = 0;
  int64_t first_sample = 0;  // a position of the stream
  int64_t samples_per_step = 0;

  int64_t end_step() const { return first_step + num_steps; }
  int64_t end_sample() const { return first_sample + num_steps * samples_per_step; }
  // The step that took the sample at this position; nothing if it is outside the range.
  std::optional<int64_t> step_of(int64_t sample) const;
};

// Memory grows with the number of resumes and of batch-size changes, not with the number of steps.
struct RunSteps {
  std::optional<DataIdentity> data;  // of the steps in `held`; absent before the first start
  std::string config;                // settings of the last start, as TOML
  std::string id;                    // run id of the last start; empty: an older program's run
  int64_t num_starts = 0;
  std::vector<StepRange> held;        // the steps that made the model, ascending
  std::vector<StepRange> lost;        // discarded steps: an earlier checkpoint was resumed
  std::optional<TokenCounts> counts;  // at the end of `held`; absent if the records lack them
  // Positions below the end of `held` that no step took, or two steps; both are 0 in a sound run.
  int64_t num_missing = 0, num_repeated = 0;

  int64_t num_samples() const { return held.empty() ? 0 : held.back().end_sample(); }
  int64_t num_lost_samples() const;  // a sample counts each time that it was lost
};

// Throws ErrorCode::Data if the ledger is missing or damaged, or if the data changed between steps
// that are all in `held`.
RunSteps read_run_steps(Storage& storage, const std::string& ledger_path);

}  // namespace ingot
