// Which rank the others wait for.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ledger/records/run_records.h"
#include "train/step/step_timer.h"

namespace ingot {

// A rank is slow when over the last kSlowWindow steps its own time (its seconds but for its waits)
// was more than kSlowFactor times the others', and the difference is worth naming: a tenth of a
// step. Times are medians over those steps, the others' is the median over ranks; so one long step
// names nobody.
constexpr int64_t kSlowWindow = 20;
constexpr double kSlowFactor = 1.25;

class SlowRanks {
 public:
  explicit SlowRanks(std::vector<std::string> hosts) : hosts_(std::move(hosts)) {}  // by rank

  // The slow rank after a step that ranks spent so, if there is one; logs it when it changes.
  // Nothing for a run of one rank, whose `ranks` are empty.
  std::optional<SlowRank> after_step(std::span<const RankTime> ranks);

 private:
  std::optional<SlowRank> find() const;

  std::vector<std::string> hosts_;
  std::vector<std::vector<double>> own_;  // by rank, of the last steps, in any order
  std::vector<double> steps_;             // seconds of the slowest
  int64_t num_steps_ = 0;
  std::optional<SlowRank> slow_;
};

}  // namespace ingot
