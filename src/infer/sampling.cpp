#include <algorithm>
#include <cmath>

#include "core/error/error.h"
#include "core/random/random.h"
#include "infer/generate.h"

namespace ingot {
namespace {

struct Candidate {
  int32_t id;
  float logit;
  double weight;  // exp((logit - largest) / temperature), not normalised
};

// Likelier first; of equals the lower id, so that the choice does not depend on the sort.
bool likelier(const Candidate& a, const Candidate& b) {
  return a.logit != b.logit ? a.logit > b.logit : a.id < b.id;
}

double total_weight(const std::vector<Candidate>& candidates) {
  double total = 0;
  for (const auto& candidate : candidates) total += candidate.weight;
  return total;
}

void keep_top_k(std::vector<Candidate>& candidates, int64_t k) {
  if (k == 0 || k >= static_cast<int64_t>(candidates.size())) return;
  std::nth_element(candidates.begin(), candidates.begin() + k, candidates.end(), likelier);
  candidates.resize(static_cast<size_t>(k));
}

// Takes from a heap until p is reached: usually a few dozen of 128,256, which a sort would order
// all.
void keep_top_p(std::vector<Candidate>& candidates, double p) {
  if (p == 1.0) return;
  const double wanted = p * total_weight(candidates);
  const auto less_likely = [](const Candidate& a, const Candidate& b) { return likelier(b, a); };
  std::make_heap(candidates.begin(), candidates.end(), less_likely);
  auto heap_end = candidates.end();
  double kept = 0;
  do {
    std::pop_heap(candidates.begin(), heap_end, less_likely);
    --heap_end;
    kept += heap_end->weight;
  } while (kept < wanted && heap_end != candidates.begin());
  candidates.erase(candidates.begin(), heap_end);
}

}  // namespace

int32_t sample_token(std::span<const float> logits, const SamplingOptions& options,
                     int64_t position) {
  check(options.temperature >= 0 && std::isfinite(options.temperature), ErrorCode::Usage,
        "temperature: expected 0 or more, got {}", options.temperature);
  check(options.top_k >= 0, ErrorCode::Usage, "top-k: expected 0 (all) or more, got {}",
        options.top_k);
  check(options.top_p > 0 && options.top_p <= 1, ErrorCode::Usage,
        "top-p: expected above 0 and at most 1, got {}", options.top_p);
  check(!logits.empty(), ErrorCode::Internal, "no logits to sample from");
  const auto nan =
      std::find_if(logits.begin(), logits.end(), [](float x) { return std::isnan(x); });
  check(nan == logits.end(), ErrorCode::Numeric,
        "logit {} of position {} is NaN: the weights are damaged or training diverged",
        nan - logits.begin(), position);
  const auto largest = std::max_element(logits.begin(), logits.end());  // the first of equals
  check(std::isfinite(*largest), ErrorCode::Numeric,
        "the largest logit of position {}: expected a finite number, got {}", position, *largest);
  if (options.temperature == 0) return static_cast<int32_t>(largest - logits.begin());

  std::vector<Candidate> candidates(logits.size());
  for (size_t i = 0; i < logits.size(); ++i) {
    const double below = static_cast<double>(logits[i]) - *largest;
    candidates[i] = {static_cast<int32_t>(i), logits[i], std::exp(below / options.temperature)};
  }
  keep_top_k(candidates, options.top_k);
  keep_top_p(candidates, options.top_p);
  if (options.top_k > 0 || options.top_p < 1) {  // these leave an order the standard does not fix
    std::sort(candidates.begin(), candidates.end(),
              [](const Candidate& a, const Candidate& b) { return a.id < b.id; });
  }

  const RandomStream random(options.seed, Purpose::Sampling, 0, static_cast<uint64_t>(position));
  double remaining = random.uniform(0) * total_weight(candidates);
  int32_t chosen = -1;
  for (const auto& candidate : candidates) {
    if (candidate.weight == 0) continue;
    chosen = candidate.id;  // rounding may leave a rest beyond the last: it is the last's
    remaining -= candidate.weight;
    if (remaining < 0) break;
  }
  return chosen;
}

}  // namespace ingot
