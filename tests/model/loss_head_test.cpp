// A head whose vocabulary is spread over ranks gives the losses and gradients of the whole one.
#include "model/loss_head.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "ops/rms_norm.h"
#include "parallel/comm/world.h"

namespace ingot::test {
namespace {

constexpr int64_t N = 11, C = 12, V = 37;
constexpr int64_t kBounds[] = {0, 20, V};  // of the shards
constexpr double kEps = 1e-5, kScale = 0.31;

std::vector<double> random_values(int64_t count, unsigned seed) {
  std::mt19937 rng(seed);
  std::normal_distribution<double> normal;
  std::vector<double> values(static_cast<size_t>(count));
  for (double& value : values) value = normal(rng);
  return values;
}

struct Outcome {
  std::vector<double> losses, evaluated, d_residual, d_norm, d_head;
};

// Rows [first, end) of the vocabulary, in F64.
Outcome run_head(Context& ctx, int64_t first, int64_t end, const LossOptions& options,
                 std::optional<VocabularyExchange> exchange) {
  const int64_t rows = end - first;
  const std::vector<double> heads = random_values(V * C, 3);
  std::vector<double> residual = random_values(N * C, 1), norm_weight = random_values(C, 2);
  std::vector<double> head(heads.begin() + first * C, heads.begin() + end * C);
  std::vector<double> norm(N * C), rstd(N), losses(N);
  std::vector<int32_t> targets = {0, 36, 19, 20, -1, 7, 21, 33, -1, 12, 25};
  double scale = kScale;
  Outcome o{.losses = {},
            .evaluated = {},
            .d_residual = std::vector<double>(N * C),
            .d_norm = std::vector<double>(C),
            .d_head = std::vector<double>(static_cast<size_t>(rows * C))};
  const auto tensor = [](std::vector<double>& values, Shape shape) {
    return Tensor::contiguous(values.data(), DType::F64, shape);
  };
  const int64_t bytes = exchange
                            ? lm_head_shard_workspace_bytes(ctx.facts, DType::F64, options.chunk,
                                                            rows, exchange->shard.num_shards)
                            : lm_head_workspace_bytes(ctx.facts, DType::F64, options.chunk, rows);
  const int64_t norm_bytes = rms_norm_backward_workspace_bytes(ctx.facts, N, C);
  const Arena arena(Device::cpu(), align_up(bytes) + norm_bytes);
  ctx.workspace = Workspace(arena.place(align_up(bytes), DType::U8, {norm_bytes}));
  const LossHead loss_head(kEps, options, arena.place(0, DType::U8, {bytes}), std::move(exchange));
  const LossWeights w{.norm = {tensor(norm_weight, {C}), {}}, .head = tensor(head, {rows, C})};
  const LossTensors x{.residual = tensor(residual, {N, C}),
                      .norm = tensor(norm, {N, C}),
                      .rstd = tensor(rstd, {N}),
                      .input8 = {},
                      .targets = Tensor::contiguous(targets.data(), DType::I32, {N}),
                      .losses = tensor(losses, {N}),
                      .scale = Tensor::contiguous(&scale, DType::F64, {1}),
                      .d_residual = tensor(o.d_residual, {N, C})};
  loss_head.forward(ctx, w, x);
  o.evaluated = losses;
  loss_head.backward(ctx, w, x,
                     {.norm = {{tensor(o.d_norm, {C}), Accumulate::No}, {}},
                      .head = {tensor(o.d_head, {rows, C}), Accumulate::No}});
  o.losses = losses;
  return o;
}

void expect_near(const std::vector<double>& got, const std::vector<double>& want,
                 const char* what) {
  ASSERT_EQ(got.size(), want.size()) << what;
  for (size_t i = 0; i < want.size(); ++i)
    EXPECT_NEAR(got[i], want[i], 1e-12 * (1 + std::abs(want[i]))) << what << " at " << i;
}

void expect_shards_equal_the_whole(const LossOptions& options) {
  ThreadPool pool(1);
  Context whole_ctx;
  whole_ctx.pool = &pool;
  const Outcome whole = run_head(whole_ctx, 0, V, options, std::nullopt);
  EXPECT_NE(whole.losses, std::vector<double>(N, 0.0));
  run_local_ranks(2, Device::cpu(), [&](World& world) {
    ThreadPool own_pool(1);
    Context ctx;
    ctx.pool = &own_pool;
    const auto comm = world.everyone(ctx);
    const int64_t first = kBounds[world.rank()], end = kBounds[world.rank() + 1];
    VocabularyExchange exchange;
    exchange.shard = {.vocab = V, .first = first, .num_shards = 2, .gather = {}};
    exchange.shard.gather = [&](const Tensor& own, const Tensor& all) {
      comm->all_gather(own, all, {}).wait();
    };
    exchange.sum = [&](const Tensor& dh) { comm->all_reduce(dh, Reduce::Sum, {}).wait(); };
    const Outcome part = run_head(ctx, first, end, options, exchange);
    expect_near(part.losses, whole.losses, "losses");
    expect_near(part.evaluated, whole.evaluated, "losses of an evaluation");
    expect_near(part.d_residual, whole.d_residual, "d_residual");
    expect_near(part.d_norm, whole.d_norm, "d_norm");
    expect_near(part.d_head, {whole.d_head.begin() + first * C, whole.d_head.begin() + end * C},
                "d_head");
  });
}

TEST(LossHead, TwoHalvesOfAVocabularyEqualTheWholeOne) {
  expect_shards_equal_the_whole({.chunk = 4});  // the last chunk is short
  expect_shards_equal_the_whole({.z_loss = 0.05, .chunk = 16});
  expect_shards_equal_the_whole({.z_loss = 0.05, .softcap = 3.0, .chunk = 4});
}

}  // namespace
}  // namespace ingot::test
