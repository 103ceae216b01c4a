#include "probe/step_limit.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/device/thread_pool.h"

namespace ingot {
namespace {

constexpr int64_t kB = 2, kT = 24, kN = kB * kT, kChunk = 20;

ModelConfig small_model() {
  ModelConfig c;
  c.dim = 32, c.layers = 3, c.heads = 4, c.kv_heads = 2, c.head_dim = 8, c.ffn = 48, c.vocab = 50;
  return c;
}

StepLimit limit_in(DType compute, DType moments = DType::F32,
                   const ModelConfig& model = small_model()) {
  ThreadPool pool(2);
  Context ctx;
  ctx.pool = &pool;
  LimitShape shape{.B = kB, .T = kT, .loss_chunk = kChunk, .compute = compute};
  shape.optim.moments = moments;
  return measure_step_limit(ctx, model, shape);
}

int64_t bytes_of(const StepLimit& limit, std::string_view part_name) {
  double bytes = 0.0;
  for (const LimitPart& part : limit.parts)
    if (part.name == part_name) bytes += part.bytes;
  return static_cast<int64_t>(bytes);
}

int64_t bytes_of(const StepLimit& limit) {
  double bytes = 0.0;
  for (const LimitPart& part : limit.parts) bytes += part.bytes;
  return static_cast<int64_t>(bytes);
}

class StepLimits : public ::testing::TestWithParam<DType> {};

TEST_P(StepLimits, AreTheSumOfTheirParts) {
  const StepLimit limit = limit_in(GetParam());
  double seconds = 0.0, flops = 0.0;
  for (const LimitPart& part : limit.parts) {
    EXPECT_GT(part.seconds, 0.0) << part.name;
    EXPECT_TRUE((part.flops > 0) != (part.bytes > 0)) << part.name;
    seconds += part.seconds;
    flops += part.flops;
  }
  EXPECT_DOUBLE_EQ(limit.gemm_seconds + limit.memory_seconds, seconds);
  EXPECT_DOUBLE_EQ(limit.tokens_per_second, static_cast<double>(kN) / seconds);
  EXPECT_DOUBLE_EQ(limit.gemm_share, flops / limit.gemm_seconds / limit.peak_flops);
}

TEST_P(StepLimits, CountTheFlopsOfEveryProduct) {
  const ModelConfig c = small_model();
  const int64_t per_layer =
      c.qkv_rows() * c.dim + c.dim * c.heads * c.head_dim + c.up_rows() * c.dim + c.dim * c.ffn;
  // 2 each forward, for the input's gradient and for the weight's; causal attention 4 and 8 over
  // half of T² pairs.
  const int64_t gemms = 6 * kN * (c.layers * per_layer + c.vocab * c.dim);
  const int64_t attention = 12 * c.layers * kB * c.heads * kT * kT * c.head_dim / 2;
  double flops = 0.0;
  for (const LimitPart& part : limit_in(GetParam()).parts) flops += part.flops;
  EXPECT_DOUBLE_EQ(flops, static_cast<double>(gemms + attention));
}

TEST_P(StepLimits, CountLayersWithAWindowByThemselves) {
  ModelConfig c = small_model();
  c.window = 8;
  c.window_layers = "wf";
  c.attn_softcap = 5.0;
  const StepLimit limit = limit_in(GetParam(), DType::F32, c);
  const auto part = [&](std::string_view name) {
    return *std::ranges::find(limit.parts, name, &LimitPart::name);
  };
  EXPECT_EQ(part("attention forward").calls, 1);
  EXPECT_EQ(part("attention forward, window 8").calls, 2);
  const double keys = static_cast<double>(kB * c.heads * kT * c.head_dim);
  EXPECT_DOUBLE_EQ(part("attention backward").flops, 8 * keys * 12);
  EXPECT_DOUBLE_EQ(part("attention backward, window 8").flops, 2 * 8 * keys * (8 - 8 * 8 / 48.0));
}

// What adamw() touches: weights of 4 bytes, under BF16 in two halves, and moments read and written,
// gradients read.
TEST_P(StepLimits, CountTheOptimizersBytesByItsMoments) {
  const int64_t parameters = parameter_count(small_model());
  EXPECT_EQ(bytes_of(limit_in(GetParam(), DType::F32), "optimizer"), 28 * parameters);
  EXPECT_EQ(bytes_of(limit_in(GetParam(), DType::BF16), "optimizer"), 20 * parameters);
}

std::string dtype_name(const ::testing::TestParamInfo<DType>& param) {
  return std::string(name_of(param.param));
}

INSTANTIATE_TEST_SUITE_P(Compute, StepLimits, ::testing::Values(DType::F32, DType::BF16),
                         dtype_name);

// Its elementwise formulas, written out with its letters.
TEST(StepLimit, CountsTheBytesOfPyTorchsLimitUnderBf16ButForTheOptimizers) {
  const ModelConfig c = small_model();
  const int64_t d = c.dim, L = c.layers, f = c.ffn, M = kN;
  const int64_t qkv = (c.heads + 2 * c.kv_heads) * c.head_dim;
  const int64_t elementwise =
      L * M * 2 * (2 * (2 * d + d) + 2 * qkv + 3 * f + 2 * (3 * d) + 2 * qkv + 5 * f);
  const StepLimit limit = limit_in(DType::BF16);
  EXPECT_EQ(bytes_of(limit) - bytes_of(limit, "optimizer"), elementwise);
}

}  // namespace
}  // namespace ingot
