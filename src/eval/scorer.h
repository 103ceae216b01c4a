// What evaluation asks of a model: how likely given ids are, and what it would write. Evaluation
// does not know who computes it.
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

// Sequences that belong together, the choices of a question. The tokens that all of them begin with
// are computed once.
struct ScoreItem {
  std::vector<ScoredSequence> sequences;
};

struct IdScore {
  double logprob = 0.0;      // natural logarithm of the id's probability, of all that come before
  bool is_likeliest = true;  // greedy decoding would write it: of equal logits the lowest id wins
};

// Work done so far.
struct ScoreCounts {
  int64_t tokens = 0;        // of all sequences
  int64_t computed = 0;      // tokens that went through the model
  int64_t logit_rows = 0;    // tokens whose logits were computed
  int64_t over_limit = 0;    // sequences that lost their beginning: longer than max_tokens()
  int64_t past_context = 0;  // sequences longer than the context that the model is trained for
};

class Scorer {
 public:
  // By sequence, one for each scored token.
  using Scores = std::vector<std::vector<IdScore>>;
  using OnItem = std::function<void(size_t index, const Scores& scores)>;
  // Whether the continuation, all of its ids so far, is long enough.
  using IsDone = std::function<bool(std::span<const int32_t> ids)>;

  virtual ~Scorer() = default;

  // Calls on_item once for each item, in any order. Of a sequence longer than max_tokens() the last
  // ones are computed. Throws ErrorCode::Numeric if logits are not finite.
  virtual void score(std::span<const ScoreItem> items, const OnItem& on_item) = 0;

  // Greedy continuation of `ids` by at most max_new ids. Stops after an id of which `is_done` says
  // so, and before one of the model's stop ids.
  virtual std::vector<int32_t> continue_greedily(std::span<const int32_t> ids, int64_t max_new,
                                                 const IsDone& is_done) = 0;

  // The longest sequence that the model has positions for; nothing limits rotary ones.
  virtual int64_t max_tokens() const = 0;
  const ScoreCounts& counts() const { return counts_; }

 protected:
  ScoreCounts counts_;
};

}  // namespace ingot
