// What evaluation asks of a model: how likely given ids are, and what it would write. Who computes
// that is up to the implementation.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace ingot {

struct ScoredSequence {
  std::vector<int32_t> ids = {};
  size_t first_scored = 1;  // ids[first_scored …] are scored; at least 1
};

// Sequences that belong together, such as the choices of a question. Their common prefix is
// computed once.
struct ScoreItem {
  std::vector<ScoredSequence> sequences;
};

struct IdScore {
  double logprob = 0.0;      // natural logarithm of the probability, given all ids before it
  bool is_likeliest = true;  // greedy decoding would write it; of equal logits the lowest id wins
};

// Work done so far, by all ranks.
struct ScoreCounts {
  int64_t tokens = 0;        // of all sequences
  int64_t computed = 0;      // tokens that went through the model
  int64_t logit_rows = 0;    // tokens whose logits were computed
  int64_t over_limit = 0;    // sequences longer than max_tokens(), whose beginning was cut off
  int64_t past_context = 0;  // sequences longer than the context that the model is trained for

  ScoreCounts& operator+=(const ScoreCounts& other) {
    tokens += other.tokens;
    computed += other.computed;
    logit_rows += other.logit_rows;
    over_limit += other.over_limit;
    past_context += other.past_context;
    return *this;
  }
};

class Scorer {
 public:
  // [sequence][scored token]
  using Scores = std::vector<std::vector<IdScore>>;
  using OnItem = std::function<void(size_t index, const Scores& scores)>;
  // Whether the continuation may end after these ids, which are all of it so far.
  using IsDone = std::function<bool(std::span<const int32_t> ids)>;

  virtual ~Scorer() = default;

  // Calls on_item once for each item, in any order. Of a sequence longer than max_tokens() only the
  // last tokens are computed. Throws ErrorCode::Numeric if logits are not finite.
  virtual void score(std::span<const ScoreItem> items, const OnItem& on_item) = 0;

  // Greedy continuation of `ids` by at most max_new ids. Ends when `is_done` is true, and before
  // one of the model's stop ids.
  virtual std::vector<int32_t> continue_greedily(std::span<const int32_t> ids, int64_t max_new,
                                                 const IsDone& is_done) = 0;

  // The longest sequence that the model has positions for; rotary positions have no limit.
  virtual int64_t max_tokens() const = 0;
  const ScoreCounts& counts() const { return counts_; }

 protected:
  ScoreCounts counts_;
};

}  // namespace ingot
