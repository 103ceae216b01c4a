// Scores with several ranks that hold the same weights: each scores its share of the items.
#pragma once

#include <functional>
#include <string>

#include "eval/scorer.h"
#include "parallel/comm/control.h"

namespace ingot {

// Every rank makes the same calls with the same arguments and gets the same scores. Their bits do
// not depend on the number of ranks, if those of `own` do not depend on its other items.
class RankScorer final : public Scorer {
 public:
  // Thrown on all ranks after `is_stopped` was true on one.
  struct Stopped {};

  // `own`: this rank's scorer. It and `control` must outlive this. `timeout`: of each round.
  RankScorer(Scorer& own, Control& control, Timeout timeout, std::function<bool()> is_stopped);

  void score(std::span<const ScoreItem> items, const OnItem& on_item) override;
  // One rank computes it, each time the next one; the others wait.
  std::vector<int32_t> continue_greedily(std::span<const int32_t> ids, int64_t max_new,
                                         const IsDone& is_done) override;
  int64_t max_tokens() const override { return own_.max_tokens(); }

 private:
  // What each rank sent, after all were asked whether to stop.
  std::vector<std::string> exchange(const std::string& said);
  void check_stop();

  Scorer& own_;
  Control& control_;
  const Timeout timeout_;
  const std::function<bool()> is_stopped_;
  int64_t continued_ = 0;
};

}  // namespace ingot
