// Some training steps of a rig on every rank of a layout, and what came of them.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <mutex>
#include <vector>

#include "core/random/random.h"
#include "model/rig.h"

namespace ingot::test {

inline std::vector<int32_t> random_tokens(int64_t n, int64_t vocab, uint64_t step) {
  const RandomStream stream(3, Purpose::Test, 0, step);
  std::vector<int32_t> tokens(static_cast<size_t>(n));
  for (size_t i = 0; i < tokens.size(); ++i)
    tokens[i] = static_cast<int32_t>(stream.bits(i) % static_cast<uint32_t>(vocab));
  return tokens;
}

using Gradients = std::vector<std::vector<double>>;  // by parameter, whole

struct Trace {
  std::vector<double> losses;
  std::vector<double> norms;            // of the whole gradient, before clipping
  std::vector<Gradients> gradients;     // by step
  std::vector<std::string> fp8_scales;  // after each step, under fp8
  bool operator==(const Trace&) const = default;
};

struct StepsOptions {
  int64_t rows = 4;  // sequences of a step, all ranks together
  int64_t steps = 3;
  bool evaluates = false;
  double lr = 3e-3;
  LaneDelay delay = {};
};

// Of every token, the first of its document: sequences are cut at random.
inline std::vector<int32_t> document_starts(int64_t rows, int64_t T, uint64_t step) {
  const RandomStream stream(3, Purpose::Test, 1, step);
  std::vector<int32_t> starts(static_cast<size_t>(rows * T));
  for (size_t i = 0; i < starts.size(); ++i) {
    const auto t = static_cast<int32_t>(i % static_cast<size_t>(T));
    starts[i] = t == 0 || stream.bits(i) % 5 == 0 ? t : starts[i - 1];
  }
  return starts;
}

// Writes this rank's part into `whole`.
inline void gather_gradients(const Rig& rig, Gradients& whole) {
  whole.resize(rig.parameters().rows().size());
  for (const ParameterShard& shard : rig.store().shards()) {
    auto& values = whole[static_cast<size_t>(shard.parameter.row)];
    values.resize(static_cast<size_t>(rig.parameters()[shard.parameter].shape.numel()));
    const std::vector<double> part = rig.gradient(rig.parameters()[shard.parameter].name);
    std::copy(part.begin(), part.end(), values.begin() + shard.range.begin);
  }
}

// Those that follow the history, and those that the step found for the weights.
inline void note_scales(Rig& rig, World& world, Trace& trace) {
  const Tensor of_weights = rig.placed().find("fp8.weights.scale");
  std::vector<float> values(static_cast<size_t>(of_weights.numel()));
  copy_to_host(rig.ctx(), of_weights, values.data());
  std::string own = rig.fp8_scales().save();
  for (const float value : values) own += fmt::format(" {}", value);
  for (const std::string& other : world.control().gather("fp8 scales", own)) EXPECT_EQ(other, own);
  if (world.rank() == 0) trace.fp8_scales.push_back(own);
}

inline Trace run_steps(const RigOptions& options, const StepsOptions& run) {
  Trace trace;
  std::mutex mutex;
  const auto on_rank = [&](World& own_world) {
    const auto wrapped = options.wrap_world ? options.wrap_world(own_world) : nullptr;
    World& world = wrapped ? *wrapped : own_world;
    Rig rig(options, world);
    EXPECT_EQ(rig.placed().allocated_bytes(), rig.predicted_bytes()) << "rank " << world.rank();
    init_weights(rig.store(), rig.parameters(), 42);
    const int64_t B = options.B, T = options.T, rows = run.rows;
    if (options.fp8) rig.fp8_scales().init(1.0 / static_cast<double>(rows * T));
    for (int64_t step = 0; step < run.steps; ++step) {
      const auto at = static_cast<uint64_t>(step);
      const auto tokens = random_tokens(rows * T, options.model.vocab, 2 * at);
      const auto targets = random_tokens(rows * T, options.model.vocab, 2 * at + 1);
      const auto documents = document_starts(rows, T, at);
      const int32_t* starts = options.document_mask ? documents.data() : nullptr;
      rig.store().start_step();
      for (int64_t row = world.rank() * B; row < rows; row += world.size() * B) {
        const MicroBatch batch{tokens.data() + row * T, targets.data() + row * T,
                               starts != nullptr ? starts + row * T : nullptr};
        rig.model().train_micro_step(batch, 1.0 / static_cast<double>(rows * T),
                                     row + world.size() * B >= rows);
      }
      rig.store().finish_gradients();
      const double sum = world.control().sum("loss", rig.model().take_loss());
      {
        const std::scoped_lock lock(mutex);
        if (world.rank() == 0) trace.losses.push_back(sum / static_cast<double>(rows * T));
        trace.gradients.resize(static_cast<size_t>(step + 1));
        gather_gradients(rig, trace.gradients.back());
      }
      const UpdateReport report = rig.update(run.lr, step + 1);
      if (world.rank() == 0) trace.norms.push_back(report.grad_norm);
      if (options.fp8) note_scales(rig, world, trace);
      if (run.evaluates) rig.model().evaluate({targets.data(), tokens.data(), starts});
    }
    EXPECT_EQ(rig.poisoned_bytes() > 0, options.poison);
  };
  run_local_ranks(options.layout.world(), options.device, on_rank, {.delay = run.delay});
  return trace;
}

// Of two gradients, relative to the second.
inline double distance(const std::vector<double>& a, const std::vector<double>& b) {
  double squares = 0.0, of_b = 0.0;
  for (size_t i = 0; i < b.size(); ++i) {
    squares += (a[i] - b[i]) * (a[i] - b[i]);
    of_b += b[i] * b[i];
  }
  return std::sqrt(squares / of_b);
}

}  // namespace ingot::test
