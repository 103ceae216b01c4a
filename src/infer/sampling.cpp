#include "infer/sampling.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>

#include "core/error/error.h"
#include "core/random/random.h"

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

struct Extremes {
  float largest;
  bool has_nan;
};

// Eight chains, since one is as slow as its additions are long: 0.1 ms of 128,256 logits.
Extremes extremes_of(std::span<const float> logits) {
  constexpr size_t kLanes = 8;
  float largest[kLanes];
  std::fill_n(largest, kLanes, -std::numeric_limits<float>::infinity());
  int nan[kLanes] = {};
  const size_t whole = logits.size() / kLanes * kLanes;
  const auto look = [&](size_t lane, float x) {
    nan[lane] |= x != x;
    largest[lane] = x > largest[lane] ? x : largest[lane];
  };
  for (size_t i = 0; i < whole; i += kLanes)
    for (size_t lane = 0; lane < kLanes; ++lane) look(lane, logits[i + lane]);
  for (size_t i = whole; i < logits.size(); ++i) look(0, logits[i]);
  return {*std::max_element(largest, largest + kLanes),
          std::any_of(nan, nan + kLanes, [](int x) { return x != 0; })};
}

bool has_penalties(const SamplingOptions& o) {
  return o.repetition_penalty != 1.0 || o.presence_penalty != 0.0 || o.frequency_penalty != 0.0;
}

void apply_penalties(const SamplingOptions& options, const TokenHistory& history,
                     std::span<float> logits) {
  std::unordered_map<int32_t, int64_t> times;  // in the reply; 0: in the prompt alone
  if (options.repetition_penalty != 1.0)
    for (const int32_t id : history.prompt) times[id] = 0;
  for (const int32_t id : history.reply) ++times[id];
  for (const auto& [id, count] : times) {
    if (id < 0 || id >= std::ssize(logits)) continue;  // of the prompt, but never drawn
    double logit = logits[static_cast<size_t>(id)];
    if (options.repetition_penalty != 1.0)
      logit = logit > 0 ? logit / options.repetition_penalty : logit * options.repetition_penalty;
    if (count > 0)
      logit -= options.presence_penalty + static_cast<double>(count) * options.frequency_penalty;
    logits[static_cast<size_t>(id)] = static_cast<float>(logit);
  }
}

double total_weight(const std::vector<Candidate>& candidates) {
  double total = 0;
  for (const auto& candidate : candidates) total += candidate.weight;
  return total;
}

// All, or the k likeliest in any order: a heap of k, whose least likely one most logits do not
// reach.
std::vector<Candidate> top_k(std::span<const float> logits, int64_t k) {
  std::vector<Candidate> kept;
  const auto V = static_cast<int32_t>(logits.size());
  if (k == 0 || k >= V) {
    kept.reserve(logits.size());
    for (int32_t id = 0; id < V; ++id) kept.push_back({id, logits[static_cast<size_t>(id)], 0});
    return kept;
  }
  for (int32_t id = 0; id < V; ++id) {
    const Candidate next{id, logits[static_cast<size_t>(id)], 0};
    const bool full = std::ssize(kept) == k;
    if (full && next.logit <= kept.front().logit) continue;  // of equals the lower ids stay
    if (full) {
      std::pop_heap(kept.begin(), kept.end(), likelier);
      kept.back() = next;
    } else {
      kept.push_back(next);
    }
    std::push_heap(kept.begin(), kept.end(), likelier);
  }
  return kept;
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

int32_t first_of(std::span<const float> logits, float value) {
  return static_cast<int32_t>(std::find(logits.begin(), logits.end(), value) - logits.begin());
}

// Draws among what top-k kept.
int32_t draw_from(std::vector<Candidate> candidates, float largest, const SamplingOptions& options,
                  int64_t draw) {
  for (Candidate& candidate : candidates)
    candidate.weight =
        std::exp((static_cast<double>(candidate.logit) - largest) / options.temperature);
  // In the order of ids, so that sums do not depend on how the candidates were found.
  const auto by_id = [](const Candidate& a, const Candidate& b) { return a.id < b.id; };
  if (options.top_k > 0) std::sort(candidates.begin(), candidates.end(), by_id);
  keep_top_p(candidates, options.top_p);
  if (options.top_p < 1) std::sort(candidates.begin(), candidates.end(), by_id);
  // The likeliest is always kept, and its weight is 1.
  if (options.min_p > 0)
    std::erase_if(candidates, [&](const Candidate& c) { return c.weight < options.min_p; });

  const RandomStream random(options.seed, Purpose::Sampling, 0, static_cast<uint64_t>(draw));
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

}  // namespace

void check_sampling(const SamplingOptions& o, int64_t vocab) {
  for (const auto& [id, bias] : o.logit_bias) {
    check(0 <= id && id < vocab, ErrorCode::Usage, "logit_bias: expected ids from 0 to {}, got {}",
          vocab - 1, id);
    check(!std::isnan(bias) && bias != std::numeric_limits<float>::infinity(), ErrorCode::Usage,
          "logit_bias: expected a finite number or -infinity for id {}, got {}", id, bias);
  }
  check(o.repetition_penalty > 0 && std::isfinite(o.repetition_penalty), ErrorCode::Usage,
        "repetition_penalty: expected above 0 (1 = off), got {}", o.repetition_penalty);
  check(std::isfinite(o.presence_penalty), ErrorCode::Usage,
        "presence_penalty: expected a finite number (0 = off), got {}", o.presence_penalty);
  check(std::isfinite(o.frequency_penalty), ErrorCode::Usage,
        "frequency_penalty: expected a finite number (0 = off), got {}", o.frequency_penalty);
  check(o.temperature >= 0 && std::isfinite(o.temperature), ErrorCode::Usage,
        "temperature: expected 0 or more, got {}", o.temperature);
  check(o.top_k >= 0, ErrorCode::Usage, "top_k: expected 0 (all) or more, got {}", o.top_k);
  check(o.top_p > 0 && o.top_p <= 1, ErrorCode::Usage,
        "top_p: expected above 0 and at most 1, got {}", o.top_p);
  check(o.min_p >= 0 && o.min_p <= 1, ErrorCode::Usage, "min_p: expected 0 to 1, got {}", o.min_p);
}

int32_t sample_token(std::span<const float> logits, const SamplingOptions& options,
                     const TokenHistory& history, int64_t draw) {
  check(!logits.empty(), ErrorCode::Internal, "no logits to sample from");
  Extremes found = extremes_of(logits);
  check(!found.has_nan, ErrorCode::Numeric,
        "logit {} of draw {} is NaN: the weights are damaged or training diverged",
        std::ranges::find_if(logits, [](float x) { return x != x; }) - logits.begin(), draw);
  check(std::isfinite(found.largest), ErrorCode::Numeric,
        "the largest logit of draw {}: expected a finite number, got {}", draw, found.largest);
  std::vector<float> changed;
  if (!options.logit_bias.empty() || has_penalties(options)) {
    changed.assign(logits.begin(), logits.end());
    for (const auto& [id, bias] : options.logit_bias)
      if (id < std::ssize(changed)) changed[static_cast<size_t>(id)] += bias;
    if (has_penalties(options)) apply_penalties(options, history, changed);
    logits = changed;
    found = extremes_of(logits);
    check(std::isfinite(found.largest), ErrorCode::Usage,
          "logit_bias: forbids every id that could be drawn; leave one");
  }
  if (options.temperature == 0) return first_of(logits, found.largest);
  return draw_from(top_k(logits, options.top_k), found.largest, options, draw);
}

bool draws_from_likeliest(const SamplingOptions& options, int64_t count) {
  const bool is_few = options.temperature == 0 || (0 < options.top_k && options.top_k <= count);
  return is_few && options.logit_bias.empty() && !has_penalties(options);
}

int32_t sample_likeliest(std::span<const IdLogit> likeliest, const SamplingOptions& options,
                         int64_t draw) {
  std::vector<Candidate> candidates;
  for (const IdLogit& found : likeliest)
    if (found.id >= 0) candidates.push_back({found.id, found.logit, 0});
  check(!candidates.empty(), ErrorCode::Internal, "no logits to sample from");
  std::sort(candidates.begin(), candidates.end(), likelier);
  if (options.temperature == 0) return candidates[0].id;
  const float largest = candidates[0].logit;
  if (options.top_k < std::ssize(candidates)) candidates.resize(static_cast<size_t>(options.top_k));
  return draw_from(std::move(candidates), largest, options, draw);
}

double log_sum_exp(std::span<const float> logits) {
  const double largest = extremes_of(logits).largest;
  double sum = 0;
  for (const float logit : logits) sum += std::exp(static_cast<double>(logit) - largest);
  return largest + std::log(sum);
}

std::vector<int32_t> likeliest(std::span<const float> logits, int64_t count) {
  if (count == 0) return {};
  std::vector<Candidate> kept = top_k(logits, count);
  std::sort(kept.begin(), kept.end(), likelier);
  std::vector<int32_t> ids;
  for (const Candidate& candidate : kept) ids.push_back(candidate.id);
  return ids;
}

}  // namespace ingot
