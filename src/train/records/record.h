// What happens in a run, as it happens, and whoever wants to know of it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "feed/token_counts.h"
#include "parallel/comm/world.h"
#include "train/agreement.h"
#include "train/hooks/policy.h"
#include "train/start/run_data.h"

namespace ingot {

struct RunFacts {
  std::string run_dir;
  std::string train_data, valid_data;  // one line each
  int64_t parameters = 0;
  int64_t total_steps = 0;
  int64_t total_tokens = 0;
  std::vector<SourceEpochs> epochs;  // of the whole run
  int64_t predicted_bytes = 0;       // of one rank, from the tensor table
  int64_t allocated_bytes = 0;       // of one rank
  int64_t first_step = 0;            // > 0 when resumed
  int64_t first_sample = 0;
  std::string nothing_to_resume = {};  // of a resume that starts at step 0: why
  TokenCounts counts;                  // before the first step
  std::string device;                  // with the GPU's name
  std::string precision;               // never auto
  int ranks = 1;
  int threads = 1;
  std::vector<RankPlace> places;  // of ranks that are processes
  Carrier carrier;                // of tensors between ranks
  std::string config_toml;        // every setting, resolved
  uint64_t config_hash = 0;
  DataIdentity data;
};

// How one rank spent a step, by its host's clock.
struct RankTime {
  double seconds = 0.0;  // from the meeting that ended the last step to the one that ends this
  double waits = 0.0;    // of those, for others and for the device
};

// A rank that the others wait for, step after step.
struct SlowRank {
  int rank = -1;
  std::string host;     // empty: this machine
  double factor = 1.0;  // of its own time, over the others'
};

struct StepReport {
  int64_t step = 0;  // completed steps, this one included
  int64_t total_steps = 0;
  int64_t tokens = 0;  // so far, padding among them
  int64_t total_tokens = 0;
  int64_t first_sample = 0, end_sample = 0;  // of this step
  TokenCounts counts;                        // so far
  double loss = 0.0;                         // mean over the step's tokens, nats
  double lr = 0.0;
  double grad_norm = 0.0;
  std::optional<double> loss_scale;  // in fp16: what this step's gradients were computed with
  bool skipped = false;              // they overflowed and nothing was updated
  StepVerdict verdict = StepVerdict::Go;
  double step_seconds = 0.0;
  double tokens_per_second = 0.0;
  std::vector<RankTime> ranks = {};  // by rank, where there are several
  std::optional<SlowRank> slow_rank = {};
};

struct EvalReport {
  int64_t step = 0;
  double loss = 0.0;                    // nats per token
  std::optional<double> bits_per_byte;  // where the source knows its bytes
  int64_t tokens = 0;
};

struct SavedReport {
  int64_t step = 0;
  std::string dir;
};

struct EndReport {
  int64_t step = 0;
};

// The run ends here, since a rank failed or did not come.
struct LostReport {
  int64_t step = 0;
  int rank = -1;
  std::string why;
};

using Record = std::variant<RunFacts, StepReport, EvalReport, SavedReport, EndReport, LostReport>;

// Takes the records of a run in their order, on rank 0's thread: the ledger, a terminal.
class Sink {
 public:
  virtual ~Sink() = default;
  virtual void take(const Record& record) = 0;
};

}  // namespace ingot
