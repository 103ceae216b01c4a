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

// Consecutive steps that took equally many samples each, one step's after the other's.
struct StepRange {
  int64_t first_step = 0;  // steps count from 1
  int64_t num_steps = 0;
  int64_t first_sample = 0;  // a position of the stream
  int64_t samples_per_step = 0;

  int64_t end_step() const { return first_step + num_steps; }
  int64_t end_sample() const { return first_sample + num_steps * samples_per_step; }
  // The step that took this position, if it is one of these.
  std::optional<int64_t> step_of(int64_t sample) const;
};

// Memory grows with the number of resumes and changes of the batch size, not with steps.
struct RunSteps {
  std::optional<DataIdentity> data;  // of the steps that hold; absent before any start
  std::string config;                // of the last start, as TOML
  std::string id;                    // of the last start; empty: of an older program
  int64_t num_starts = 0;
  std::vector<StepRange> held;        // the steps that made the model, ascending
  std::vector<StepRange> lost;        // trained, but discarded: an earlier checkpoint was resumed
  std::optional<TokenCounts> counts;  // at the end of `held`; absent where records do not tell
  // Positions below the end of `held` that are in no step, or in two; of a sound run both are 0.
  int64_t num_missing = 0, num_repeated = 0;

  int64_t num_samples() const { return held.empty() ? 0 : held.back().end_sample(); }
  int64_t num_lost_samples() const;  // with multiplicity
};

// Throws ErrorCode::Data when the ledger is missing, damaged, or says that the data changed while
// earlier steps hold.
RunSteps read_run_steps(Storage& storage, const std::string& ledger_path);

}  // namespace ingot
