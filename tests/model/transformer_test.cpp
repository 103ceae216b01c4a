#include "model/transformer.h"

#include <gtest/gtest.h>

#include <cmath>

#include "model/run_steps.h"

namespace ingot::test {
namespace {

ModelConfig small_model(bool tied) {
  ModelConfig c = model_preset("llama_test");
  c.tied = tied;
  return c;
}

// A model whose extents 8-bit products can take.
RigOptions fp8_options() {
  RigOptions options;
  options.model = small_model(false);
  options.model.dim = 64;
  options.model.ffn = 96;
  options.model.vocab = 128;
  options.T = 16;
  options.loss_chunk = 16;
  options.compute = DType::BF16;
  options.fp8 = true;
  return options;
}

// `steps` updates on a global batch of `rows` sequences, spread over the ranks of options.layout.
Trace run_steps(const RigOptions& options, int64_t rows, int64_t steps, bool evaluates = false) {
  return run_steps(options, {.rows = rows, .steps = steps, .evaluates = evaluates});
}

TEST(Transformer, ActivationPoliciesGiveEqualGradientsBitForBit) {
  for (const DType compute : {DType::F32, DType::BF16}) {
    RigOptions options;
    options.model = small_model(false);
    options.model.qk_norm = true;
    options.compute = compute;
    const Trace kept = run_steps(options, 4, 3);
    for (const ActivationPolicy policy : {ActivationPolicy::Selective, ActivationPolicy::Full}) {
      options.policy = policy;
      const Trace recomputed = run_steps(options, 4, 3);
      EXPECT_EQ(recomputed.losses, kept.losses);
      EXPECT_EQ(recomputed.gradients, kept.gradients);
    }
  }
}

TEST(Transformer, KeptLayersGiveEqualGradientsBitForBit) {
  for (const Activation activation : {Activation::SwiGlu, Activation::ReluSquared})
    for (const DType compute : {DType::F32, DType::BF16}) {
      RigOptions options;
      options.model = small_model(false);
      options.model.layers = 3;
      options.model.activation = activation;
      options.compute = compute;
      const Trace all = run_steps(options, 4, 3);
      for (const ActivationPolicy policy : {ActivationPolicy::Selective, ActivationPolicy::Full})
        for (const int64_t layers : {0, 1, 2, 3}) {
          options.policy = policy;
          options.keep_layers = layers;
          const Trace some = run_steps(options, 4, 3, /*evaluates=*/true);
          EXPECT_EQ(some.losses, all.losses) << layers;
          EXPECT_EQ(some.gradients, all.gradients) << layers;
        }
    }
}

TEST(Transformer, OffloadedActivationsGiveEqualGradientsBitForBit) {
  for (const ActivationPolicy policy : {ActivationPolicy::Selective, ActivationPolicy::Full}) {
    RigOptions options;
    options.model = small_model(false);
    options.model.layers = 5;
    options.policy = policy;
    const Trace kept = run_steps(options, 4, 3);
    for (const int64_t layers : {1, 3, 4, 5}) {
      options.offload_layers = layers;
      const Trace offloaded = run_steps(options, 4, 3, /*evaluates=*/true);
      EXPECT_EQ(offloaded.losses, kept.losses) << layers;
      EXPECT_EQ(offloaded.gradients, kept.gradients) << layers;
    }
  }
}

// Every row that holds nothing at a tick is overwritten before it. A row whose life is too short
// would be read as NaN.
TEST(Transformer, NobodyReadsARowThatIsNotAlive) {
  for (const bool fp8 : {false, true})
    for (const ActivationPolicy policy :
         {ActivationPolicy::None, ActivationPolicy::Selective, ActivationPolicy::Full})
      for (const auto& [keep, offload] : {std::pair{0, 0}, std::pair{1, 0}, std::pair{0, 4}})
        for (const bool one_micro_step : {false, true}) {
          RigOptions options = fp8 ? fp8_options() : RigOptions{};
          if (!fp8) options.model = small_model(true);
          options.fp8_head = fp8;
          options.model.layers = 4;
          options.model.qk_norm = true;
          options.policy = policy;
          options.keep_layers = keep;
          options.offload_layers = offload;
          options.one_micro_step = one_micro_step;
          const int64_t rows = one_micro_step ? 2 : 4;
          const Trace clean = run_steps(options, rows, 2, /*evaluates=*/true);
          options.poison = true;
          const Trace poisoned = run_steps(options, rows, 2, /*evaluates=*/true);
          EXPECT_EQ(poisoned.losses, clean.losses);
          EXPECT_EQ(poisoned.gradients, clean.gradients);
        }
}

TEST(Transformer, OffloadingTakesLessMemory) {
  RigOptions options;
  options.model = model_preset("llama_10m");
  options.T = 128;
  const int64_t kept = Rig(options, *single_world()).predicted_bytes();
  options.offload_layers = options.model.layers;
  EXPECT_LT(Rig(options, *single_world()).predicted_bytes(), kept);
}

// In their place: where a gradient were written before its time, or the update read one after its
// place was taken, the next losses would differ.
TEST(Transformer, GradientsWhereActivationsWereAreEqualBitForBit) {
  for (const bool tied : {false, true}) {
    for (const Layout layout : {Layout{}, Layout{.dp_replicate = 2}, Layout{.dp_shard = 2}}) {
      for (const ActivationPolicy policy : {ActivationPolicy::None, ActivationPolicy::Full}) {
        RigOptions options;
        options.model = small_model(tied);
        options.model.layers = 4;
        options.policy = policy;
        options.layout = layout;
        options.offload_layers = tied ? 3 : 0;
        options.keep_layers = tied ? 0 : 2;
        const Trace apart = run_steps(options, 2 * layout.world(), 3, /*evaluates=*/true);
        options.one_micro_step = true;
        const Trace shared = run_steps(options, 2 * layout.world(), 3, /*evaluates=*/true);
        EXPECT_EQ(shared.losses, apart.losses);
        EXPECT_EQ(shared.gradients, apart.gradients);
      }
    }
  }
}

TEST(Transformer, GradientsWhereActivationsWereTakeNoMemoryOfTheirOwn) {
  RigOptions options;
  options.model = model_preset("llama_10m");
  options.B = 8;
  options.T = 512;
  const int64_t apart = Rig(options, *single_world()).predicted_bytes();
  options.one_micro_step = true;
  const Rig rig(options, *single_world());
  EXPECT_EQ(rig.placed().allocated_bytes(), rig.predicted_bytes());
  int64_t layer_gradients = 0;
  for (const TensorSpec& row : rig.parameters().rows())
    if (row.name.starts_with("layers.")) layer_gradients += 4 * row.shape.numel();
  const int64_t of_one_layer = layer_gradients / options.model.layers;
  EXPECT_GE(apart - rig.predicted_bytes(), layer_gradients - of_one_layer);
}

TEST(Fp8, LossesFollowBf16) {
  for (const bool tied : {false, true})
    for (const bool head : {false, true}) {
      RigOptions options = fp8_options();
      options.model.tied = tied;
      options.fp8_head = head;
      const Trace narrow = run_steps(options, 4, 20);
      options.fp8 = options.fp8_head = false;
      const Trace wide = run_steps(options, 4, 20);
      for (size_t i = 0; i < wide.losses.size(); ++i)
        EXPECT_NEAR(narrow.losses[i] / wide.losses[i], 1.0, 1e-2) << "step " << i;
      EXPECT_NE(narrow.losses, wide.losses);
    }
}

TEST(Fp8, GradientsPointWhereBf16sDo) {
  RigOptions options = fp8_options();
  options.model.qk_norm = true;
  const Gradients narrow = run_steps(options, 4, 3).gradients.back();
  options.fp8 = false;
  const Gradients wide = run_steps(options, 4, 3).gradients.back();
  for (size_t i = 0; i < wide.size(); ++i) {
    if (wide[i].size() < 1000) continue;  // a norm's few elements: mostly noise
    double dot = 0, narrow_square = 0, wide_square = 0;
    for (size_t k = 0; k < wide[i].size(); ++k) {
      dot += narrow[i][k] * wide[i][k];
      narrow_square += narrow[i][k] * narrow[i][k];
      wide_square += wide[i][k] * wide[i][k];
    }
    EXPECT_GT(dot / std::sqrt(narrow_square * wide_square), 0.97) << "parameter " << i;
    EXPECT_NEAR(std::sqrt(narrow_square / wide_square), 1.0, 0.1) << "parameter " << i;
  }
}

TEST(Fp8, PoliciesKeptLayersOffloadAndEvaluationChangeNothing) {
  for (const Activation activation : {Activation::SwiGlu, Activation::ReluSquared}) {
    RigOptions options = fp8_options();
    options.model.activation = activation;
    options.fp8_head = true;
    const Trace kept = run_steps(options, 4, 4);
    const int64_t all = options.model.layers;
    for (const ActivationPolicy policy : {ActivationPolicy::Selective, ActivationPolicy::Full})
      for (const auto& [keep, offload] : {std::pair{0L, all}, std::pair{1L, 0L}, {all, 0L}}) {
        options.policy = policy;
        options.keep_layers = keep;
        options.offload_layers = offload;
        const Trace other = run_steps(options, 4, 4, /*evaluates=*/true);
        EXPECT_EQ(other.losses, kept.losses) << keep << " kept";
        EXPECT_EQ(other.gradients, kept.gradients) << keep << " kept";
      }
  }
}

TEST(Fp8, AllocatesExactlyThePredictedBytes) {
  RigOptions options = fp8_options();
  options.fp8_head = true;
  const Rig rig(options, *single_world());
  EXPECT_EQ(rig.placed().allocated_bytes(), rig.predicted_bytes());
}

TEST(Transformer, RecomputationTakesLessMemory) {
  RigOptions options;
  options.model = model_preset("llama_10m");
  options.T = 128;
  auto bytes = [&](ActivationPolicy policy) {
    options.policy = policy;
    return Rig(options, *single_world()).predicted_bytes();
  };
  EXPECT_LT(bytes(ActivationPolicy::Selective), bytes(ActivationPolicy::None));
  EXPECT_LT(bytes(ActivationPolicy::Full), bytes(ActivationPolicy::Selective));
}

TEST(Transformer, RanksGiveOneRanksLossesWithin1e6) {
  for (const bool tied : {false, true}) {
    RigOptions options;
    options.model = small_model(tied);
    options.B = 1;
    options.threads = 1;
    const Trace one = run_steps(options, 8, 5);
    for (const DataParallel mode : {DataParallel::Replicated, DataParallel::FullySharded})
      for (const int ranks : {2, 4}) {
        options.layout = data_layout(ranks, mode);
        const Trace many = run_steps(options, 8, 5);
        ASSERT_EQ(many.losses.size(), one.losses.size());
        for (size_t i = 0; i < one.losses.size(); ++i)
          EXPECT_NEAR(many.losses[i] / one.losses[i], 1.0, 1e-6)
              << ranks << " ranks, sharded " << (mode == DataParallel::FullySharded) << ", step "
              << i;
      }
  }
}

TEST(Transformer, AccumulatedMicroStepsEqualOneLargeBatch) {
  RigOptions options;
  options.model = small_model(true);
  options.B = 8;
  const Trace whole = run_steps(options, 8, 3);
  options.B = 2;
  const Trace parts = run_steps(options, 8, 3);
  for (size_t i = 0; i < whole.losses.size(); ++i)
    EXPECT_NEAR(parts.losses[i] / whole.losses[i], 1.0, 1e-6);
}

TEST(Transformer, Bf16LossesFollowFp32) {
  RigOptions options;
  options.model = small_model(false);
  const Trace wide = run_steps(options, 4, 10);
  options.compute = DType::BF16;
  const Trace narrow = run_steps(options, 4, 10);
  for (size_t i = 0; i < wide.losses.size(); ++i)
    EXPECT_NEAR(narrow.losses[i] / wide.losses[i], 1.0, 1e-2);
  EXPECT_NE(narrow.losses, wide.losses);
}

TEST(Transformer, ThreadCountDoesNotChangeLosses) {
  RigOptions options;
  options.model = small_model(false);
  options.threads = 1;
  const Trace one = run_steps(options, 4, 3);
  options.threads = 3;
  EXPECT_EQ(run_steps(options, 4, 3).losses, one.losses);
}

TEST(Transformer, AllocatesExactlyThePredictedBytes) {
  for (const DataParallel mode : {DataParallel::Replicated, DataParallel::FullySharded}) {
    RigOptions options;
    options.model = small_model(false);
    options.layout = data_layout(2, mode);
    run_local_ranks(2, Device::cpu(), [&](World& world) {
      const Rig rig(options, world);
      EXPECT_EQ(rig.placed().allocated_bytes(), rig.predicted_bytes());
    });
  }
}

}  // namespace
}  // namespace ingot::test
