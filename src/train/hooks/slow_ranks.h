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

// A rank's own time is its seconds less its waits. A rank is slow when, over the last kSlowWindow
// steps, its median own time is more than kSlowFactor times the median of the other ranks' and the
// difference is at least a tenth of a step. One long step therefore makes no rank slow.
constexpr int64_t kSlowWindow = 20;
constexpr double kSlowFactor = 1.25;

class SlowRanks {
 public:
  explicit SlowRanks(std::vector<std::string> hosts) : hosts_(std::move(hosts)) {}  // by rank

  // Takes how each rank spent a step. Returns the slow rank, if there is one; logs it when it
  // changes. `ranks` is empty, and the result nothing, in a run of one rank.
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
