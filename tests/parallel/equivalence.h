// Training steps on a layout against one rank's: the ways of laying out and of computing that are
// put together, and how far two runs are apart.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <tuple>
#include <vector>

#include "model/run_steps.h"

namespace ingot::test {

// How ranks share what a run holds, by the settings of system.*.
struct Form {
  const char* name;
  DataParallel mode;
  UnshardedWeights whole = UnshardedWeights::AroundUses;
  GradientSync sync = GradientSync::MicroStep;
  bool replicas = false;  // half of the ranks share, the others are their replicas
  bool offload = false;   // masters and states in host memory
};

inline constexpr std::array kForms = {
    Form{"dp", DataParallel::Replicated},
    Form{"zero1", DataParallel::Zero1, UnshardedWeights::Always, GradientSync::Step},
    Form{"zero2", DataParallel::Zero2, UnshardedWeights::Always},
    Form{"fsdp", DataParallel::FullySharded},
    Form{"fsdp_step", DataParallel::FullySharded, UnshardedWeights::AroundUses, GradientSync::Step},
    Form{"fsdp_kept", DataParallel::FullySharded, UnshardedWeights::ForwardToBackward},
    Form{"hsdp", DataParallel::FullySharded, UnshardedWeights::AroundUses, GradientSync::MicroStep,
         true},
    Form{"zero1_offload", DataParallel::Zero1, UnshardedWeights::Always, GradientSync::Step, false,
         true},
    Form{"fsdp_offload", DataParallel::FullySharded, UnshardedWeights::AroundUses,
         GradientSync::MicroStep, false, true},
};

struct Way {
  Form form = kForms[0];
  int ranks = 1;
  bool accumulates = false;  // two micro-steps a step
  ActivationPolicy policy = ActivationPolicy::None;
  bool grouped = false;  // fewer heads of keys than of queries
  bool qk_norm = false;
  bool tied = false;
  bool documents = false;  // masks between them
  OptimKind optim = OptimKind::AdamW;

  std::string name() const {
    constexpr const char* kPolicies[] = {"none", "selective", "full"};
    return fmt::format("{}{}_{}{}{}{}{}{}_{}", form.name, ranks,
                       kPolicies[static_cast<int>(policy)], accumulates ? "_accumulated" : "",
                       grouped ? "_gqa" : "", qk_norm ? "_qknorm" : "", tied ? "_tied" : "",
                       documents ? "_documents" : "", optim == OptimKind::Muon ? "muon" : "adamw");
  }
};

// The numbers of choices, by dimension, and a row of choices as a Way.
inline constexpr std::array<size_t, 9> kChoices = {kForms.size(), 5, 2, 3, 2, 2, 2, 2, 2};
using Choice = std::array<size_t, kChoices.size()>;
inline constexpr size_t kOpen = ~size_t{0};

inline constexpr std::array kRanks = {2, 3, 4, 5, 8};

inline Way way_of(const Choice& choice) {
  return {kForms[choice[0]],
          kRanks[choice[1]],
          choice[2] == 1,
          static_cast<ActivationPolicy>(choice[3]),
          choice[4] == 1,
          choice[5] == 1,
          choice[6] == 1,
          choice[7] == 1,
          choice[8] == 1 ? OptimKind::Muon : OptimKind::AdamW};
}

// What is chosen so far. Replicas of shards need ranks that halve, and more than one to share; what
// is offloaded is updated by AdamW.
inline bool is_possible(const Choice& choice) {
  const auto [form, ranks, optim] = std::tuple(choice[0], choice[1], choice[8]);
  if (form == kOpen) return true;
  const bool halves = ranks == kOpen || (kRanks[ranks] % 2 == 0 && kRanks[ranks] > 2);
  return (!kForms[form].replicas || halves) && !(kForms[form].offload && optim == 1);
}

// Rows in which every two choices of different dimensions meet: each is filled choice by choice
// with what meets most that others have not met yet.
inline std::vector<Way> all_pairs() {
  using Pair = std::array<size_t, 4>;  // dimension and choice, twice
  std::vector<Pair> open;
  for (size_t a = 0; a < kChoices.size(); ++a)
    for (size_t b = a + 1; b < kChoices.size(); ++b)
      for (size_t x = 0; x < kChoices[a]; ++x)
        for (size_t y = 0; y < kChoices[b]; ++y) {
          Choice both;
          both.fill(kOpen);
          both[a] = x, both[b] = y;
          if (is_possible(both)) open.push_back({a, x, b, y});
        }
  std::vector<Way> ways;
  while (!open.empty()) {
    Choice row;
    row.fill(kOpen);
    const Pair first = open.front();
    row[first[0]] = first[1], row[first[2]] = first[3];
    const auto met = [&](const Choice& choice) {
      return std::count_if(open.begin(), open.end(), [&](const Pair& pair) {
        return choice[pair[0]] == pair[1] && choice[pair[2]] == pair[3];
      });
    };
    for (size_t dimension = 0; dimension < kChoices.size(); ++dimension) {
      if (row[dimension] != kOpen) continue;
      Choice best = row;
      for (size_t choice = 0; choice < kChoices[dimension]; ++choice) {
        Choice candidate = row;
        candidate[dimension] = choice;
        if (is_possible(candidate) && (best[dimension] == kOpen || met(candidate) > met(best)))
          best = candidate;
      }
      row = best;
    }
    std::erase_if(
        open, [&](const Pair& pair) { return row[pair[0]] == pair[1] && row[pair[2]] == pair[3]; });
    ways.push_back(way_of(row));
  }
  return ways;
}

inline int64_t rows_of(const Way& way) {
  return way.ranks % 2 == 0 ? 16 : 2 * way.ranks;
}

// Clipping acts in every step: gradients of such a model have norms of about 1.
inline constexpr double kClip = 0.05;

inline RigOptions options_of(const Way& way, DType compute) {
  RigOptions options;
  options.model = model_preset("llama_test");
  options.model.layers = 2;
  options.model.kv_heads = way.grouped ? 2 : options.model.heads;
  options.model.qk_norm = way.qk_norm;
  options.model.tied = way.tied;
  options.document_mask = way.documents;
  options.policy = way.policy;
  options.compute = compute;
  options.layout = data_layout(way.ranks, way.form.mode, way.form.replicas ? way.ranks / 2 : 0);
  options.unsharded_weights = way.form.whole;
  options.gradient_sync = way.form.sync;
  options.offload_optimizer = way.form.offload;
  options.one_micro_step = !way.accumulates;
  options.T = 8;
  options.B = rows_of(way) / way.ranks / (way.accumulates ? 2 : 1);
  options.threads = 1;
  options.optim.kind = way.optim;
  options.optim.lr = 2e-4;
  options.optim.muon_lr = 2e-4;
  options.optim.clip = kClip;
  return options;
}

// On one rank, in as many micro-steps as fit.
inline RigOptions on_one_rank(Way way, DType compute) {
  const int64_t rows = rows_of(way);
  way.form = kForms[0];
  way.ranks = 1;
  way.accumulates = false;
  RigOptions options = options_of(way, compute);
  options.B = rows;
  return options;
}

// How far one run is from another, each relative to the latter: the worst of all steps.
struct Distances {
  double losses = 0.0;
  double norms = 0.0;
  double first_gradients = 0.0;  // of any parameter, in the first step
  double gradients = 0.0;        // in all steps
};

inline Distances distances(const Trace& many, const Trace& one) {
  Distances worst;
  const auto note = [](double& most, double found) {
    most = std::isnan(found) ? std::numeric_limits<double>::infinity() : std::max(most, found);
  };
  const bool complete = many.losses.size() == one.losses.size() && !one.losses.empty();
  if (!complete) return {INFINITY, INFINITY, INFINITY, INFINITY};
  for (size_t step = 0; step < one.losses.size(); ++step) {
    note(worst.losses, std::abs(many.losses[step] / one.losses[step] - 1.0));
    note(worst.norms, std::abs(many.norms[step] / one.norms[step] - 1.0));
    for (size_t i = 0; i < one.gradients[step].size(); ++i) {
      const double found = distance(many.gradients[step][i], one.gradients[step][i]);
      note(worst.gradients, found);
      if (step == 0) note(worst.first_gradients, found);
    }
  }
  return worst;
}

}  // namespace ingot::test
