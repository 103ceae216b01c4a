#include "infer/logit_row.h"

#include <algorithm>

#include "core/error/error.h"

namespace ingot {
namespace {

// Scores of ids in one distribution; what they share is computed once.
class Distribution {
 public:
  Distribution(std::span<const float> logits, int64_t top)
      : logits_(logits), log_sum_(log_sum_exp(logits)), largest_(ingot::likeliest(logits, 1)[0]) {
    for (const int32_t id : ingot::likeliest(logits, std::max<int64_t>(0, top)))
      top_.push_back({id, logprob(id)});
  }
  TokenScore score(int32_t id) const { return {id, logprob(id), id == largest_, top_}; }

 private:
  double logprob(int32_t id) const {
    return static_cast<double>(logits_[static_cast<size_t>(id)]) - log_sum_;
  }

  std::span<const float> logits_;
  double log_sum_;
  int32_t largest_;
  std::vector<IdLogprob> top_;
};

}  // namespace

bool can_read_likeliest(const Sequence& s) {
  const Request& r = s.request;
  return !s.misses_scores() && (r.next_ids.empty() || s.gave_next_scores) && r.top_logprobs < 0 &&
         r.max_tokens > 0 && draws_from_likeliest(r.sampling, kTopLogits);
}

LogitResult read_row(const LogitRow& row, std::span<const float> logits, size_t drawn_vocab) {
  const Sequence& s = *row.sequence;
  const Request& r = s.request;
  LogitResult result;
  result.is_finite = row.is_finite;
  if (!row.is_finite) return result;
  if (row.likeliest != nullptr) {
    result.is_zero = row.likeliest->all_zero != 0;
    result.token = {.id = sample_likeliest(row.likeliest->ids, r.sampling, std::ssize(s.reply))};
    return result;
  }
  result.is_zero = std::ranges::all_of(logits, [](float x) { return x == 0; });

  const bool is_last = row.position + 1 == std::ssize(s.tokens);
  const bool scores_prompt = s.misses_scores() && row.position + 1 >= s.next_scored &&
                             row.position + 1 < std::ssize(r.prompt);
  const bool scores_next = is_last && !s.gave_next_scores && !r.next_ids.empty();
  const bool draws = is_last && r.max_tokens > 0;
  std::optional<Distribution> distribution;
  if (scores_prompt || scores_next || (draws && r.top_logprobs >= 0))
    distribution.emplace(logits, r.top_logprobs);
  if (scores_prompt)
    result.prompt_score = distribution->score(r.prompt[static_cast<size_t>(row.position) + 1]);
  if (scores_next)
    for (const int32_t id : r.next_ids) result.next_scores.push_back(distribution->score(id));
  if (!draws) return result;
  try {
    const int32_t id = sample_token(logits.first(drawn_vocab), r.sampling, {r.prompt, s.reply},
                                    std::ssize(s.reply));
    result.token = r.top_logprobs >= 0 ? distribution->score(id) : TokenScore{.id = id};
  } catch (const Error& error) {
    result.error = error.what();
  }
  return result;
}

}  // namespace ingot
