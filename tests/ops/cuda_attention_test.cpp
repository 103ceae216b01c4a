// What no OpCase takes: the backward pass that Context::deterministic = false allows, batches
// larger than any, the tiles of smaller GPUs; that the deterministic pass repeats itself, and which
// calls turn their gradients back themselves.
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <map>

#include "op_case_rig.h"
#include "ops/attention.h"
#include "ops/cuda/attention/cudnn.h"
#include "ops/cuda/attention/fallback.h"
#include "ops/kernels/attention.h"
#include "ops/memory.h"
#include "ops/reduce.h"
#include "ops/rope.h"
#include "probe/operands.h"
#include "support/on_gpu.h"

namespace ingot::test {
namespace {

class CudaAttention : public OnGpu<::testing::Test> {
 protected:
  // Tables for heads of 64, at positions(B, T) that no two rows share if `listed`, else from 5 on.
  static RopeInput rope_of(Operands& operands, RopePairs pairs, int64_t B, int64_t T, bool listed) {
    const int64_t context = T + std::max<int64_t>(B, 5);
    RopeInput rope{.cos = operands.zeros(DType::F32, {context, 32}),
                   .sin = operands.zeros(DType::F32, {context, 32}),
                   .first_position = 5,
                   .pairs = pairs};
    rope_table(gpu(), {}, rope.cos, rope.sin);
    if (!listed) return rope;
    std::vector<int32_t> positions;
    for (int64_t n = 0; n < B * T; ++n) positions.push_back(static_cast<int32_t>(n / T + n % T));
    rope.positions = operands.zeros(DType::I32, {B, T});
    copy_from_host(gpu(), positions.data(), rope.positions);
    return rope;
  }
  // Row b of the batch.
  static std::vector<double> row_of(const Tensor& tensor, int64_t b) {
    const Tensor row = tensor.slice(0, b, b + 1);
    Operands operands(gpu());
    const Tensor packed = operands.zeros(row.dtype, row.shape);
    const Tensor wide = operands.zeros(DType::F32, row.shape);
    copy(gpu(), row, packed);
    cast(gpu(), packed, wide);
    std::vector<float> values(static_cast<size_t>(wide.numel()));
    copy_to_host(gpu(), wide, values.data());
    return {values.begin(), values.end()};
  }
};

TEST_F(CudaAttention, TheFastBackwardAgreesWithDoubleOnTheCpu) {
  Context fast = gpu();
  fast.deterministic = false;
  for (const OpCase& c : op_large_cases()) {
    if (!is_attention(c)) continue;
    SCOPED_TRACE(c.name);
    OpRun exact(c, DType::F64, DType::BF16, cpu());
    OpRun narrow(c, DType::BF16, DType::BF16, fast);
    exact.forward();
    narrow.forward();
    for (const std::string& name : exact.output_names())
      exact.set_values(name, narrow.values(name));
    exact.backward();
    narrow.backward();
    expect_close(narrow, exact, gpu_tolerance(c, DType::BF16));
    EXPECT_EQ(narrow.damage(), "");
  }
}

TEST_F(CudaAttention, TheDeterministicBackwardRepeatsBitForBit) {
  for (const OpCase& c : op_large_cases()) {
    if (!is_attention(c)) continue;
    SCOPED_TRACE(c.name);
    OpRun run(c, DType::BF16, DType::BF16, gpu());
    run.forward();
    run.backward();
    std::map<std::string, std::vector<double>> first;
    for (const char* name : {"d.q", "d.k", "d.v"}) first[name] = run.values(name);
    for (int again = 0; again < 5; ++again) {
      run.backward();
      for (const auto& [name, values] : first) EXPECT_EQ(run.values(name), values) << name;
    }
  }
}

// Heads in packed rows, as in the model. The ops one after the other round dq and dk once more.
TEST_F(CudaAttention, HopperTurnsGradientsBackBeforeTheyAreRounded) {
  constexpr int64_t B = 3, T = 384, H = 6, G = 2, D = 64;
  const bool on_hopper = gpu().facts.major == 9;
  Operands operands(gpu());
  const auto heads = [](const Tensor& qkv, int64_t begin, int64_t end) {
    return qkv.split(2, H + 2 * G, D).slice(2, begin, end);
  };
  const auto q = [&](const Tensor& qkv) { return heads(qkv, 0, H); };
  const auto k = [&](const Tensor& qkv) { return heads(qkv, H, H + G); };
  const auto v = [&](const Tensor& qkv) { return heads(qkv, H + G, H + 2 * G); };
  const Shape packed{B, T, (H + 2 * G) * D};
  const Tensor qkv = operands.random(DType::BF16, packed);
  const Tensor out = operands.zeros(DType::BF16, {B, T, H, D});
  const Tensor dout = operands.random(DType::BF16, {B, T, H, D});
  const Tensor lse = operands.zeros(DType::F32, {B, H, T});
  const Tensor apart = operands.zeros(DType::BF16, packed);
  const Tensor fused = operands.zeros(DType::BF16, packed);
  Context fast = gpu();
  fast.deterministic = false;
  Context ctx = operands.with_workspace(
      attention_workspace_bytes(fast.facts, {DType::BF16, B, T, T, H, G, D, false, true}));
  const AttentionTensors tensors{q(qkv), k(qkv), v(qkv), out, lse};
  attention_forward(ctx, tensors, {});
  AttentionOptions scaled;
  scaled.scale = 0.125;
  for (const RopePairs pairs : {RopePairs::HalfSplit, RopePairs::Interleaved})
    for (const bool listed : {false, true}) {
      const RopeInput rope = rope_of(operands, pairs, B, T, listed);
      for (const bool deterministic : {true, false}) {
        SCOPED_TRACE(fmt::format("interleaved {}, listed {}, deterministic {}",
                                 pairs == RopePairs::Interleaved, listed, deterministic));
        ctx.deterministic = deterministic;
        ASSERT_EQ(cuda::attention_rope_backward(ctx, tensors, {dout, q(fused), k(fused), v(fused)},
                                                scaled, rope),
                  on_hopper);
        if (!on_hopper) return;
        attention_backward(ctx, tensors, {dout, q(apart), k(apart), v(apart)}, scaled);
        rope_backward(ctx, heads(apart, 0, H + G), rope);
        for (const auto& [begin, end] : {std::pair{int64_t{0}, H}, {H, H + G}, {H + G, H + 2 * G}})
          for (int64_t b = 0; b < B; ++b)
            EXPECT_LE(relative_error(row_of(heads(fused, begin, end), b),
                                     row_of(heads(apart, begin, end), b)),
                      begin == H + G ? 0.0 : 2 * tolerance_of(DType::BF16))
                << "heads from " << begin << ", row " << b;
      }
    }
}

TEST_F(CudaAttention, WhatHopperDoesNotTurnBackIsLeftToTheSeparateOps) {
  Operands operands(gpu());
  const auto refused = [&](DType dtype, int64_t T, int64_t D, int64_t window = 0) {
    constexpr int64_t B = 2, H = 8;
    AttentionOptions options;
    options.scale = 0.125;
    options.window = window;
    const Tensor heads = operands.random(dtype, {B, T, H, D});
    const Tensor lse = operands.zeros(DType::F32, {B, H, T});
    const Tensor table = operands.zeros(DType::F32, {T, D / 2});
    return !cuda::attention_rope_backward(gpu(), {heads, heads, heads, heads, lse},
                                          {heads, heads, heads, heads}, options,
                                          {.cos = table, .sin = table});
  };
  EXPECT_TRUE(refused(DType::F32, 512, 64));
  EXPECT_TRUE(refused(DType::BF16, 512, 128));
  EXPECT_TRUE(refused(DType::BF16, 448, 64));      // blocks are of 128 tokens
  EXPECT_TRUE(refused(DType::BF16, 512, 64, 64));  // a window
}

// dq's sums take a piece of the batch at a time: with 1 MiB a row of it, 1024 rows, then the rest.
TEST_F(CudaAttention, ABatchTakenInPiecesGivesWhatItsHalvesGive) {
  constexpr int64_t B = 1100, T = 512, H = 8, G = 4, D = 64;
  Operands operands(gpu());
  const auto random = [&](int64_t heads) { return operands.random(DType::BF16, {B, T, heads, D}); };
  const auto zeros = [&](int64_t heads) { return operands.zeros(DType::BF16, {B, T, heads, D}); };
  const Tensor q = random(H), k = random(G), v = random(G), out = random(H), dout = random(H);
  const Tensor lse = operands.random(DType::F32, {B, H, T});
  Context fast = gpu();
  fast.deterministic = false;
  Context ctx = operands.with_workspace(
      attention_workspace_bytes(fast.facts, {DType::BF16, B, T, T, H, G, D, false}));
  const RopeInput rope = rope_of(operands, RopePairs::HalfSplit, B, T, true);
  const auto backward = [&](int64_t begin, int64_t end, const auto& gradients) {
    const auto rows = [&](const Tensor& tensor) { return tensor.slice(0, begin, end); };
    RopeInput of_rows = rope;
    of_rows.positions = rows(rope.positions);
    attention_rope_backward(
        ctx, {rows(q), rows(k), rows(v), rows(out), rows(lse)},
        {rows(dout), rows(gradients[0]), rows(gradients[1]), rows(gradients[2])}, {}, of_rows);
  };
  const std::array<Tensor, 3> whole{zeros(H), zeros(G), zeros(G)};  // of q, k, v
  const std::array<Tensor, 3> halves{zeros(H), zeros(G), zeros(G)};
  for (const bool deterministic : {true, false}) {
    ctx.deterministic = deterministic;
    backward(0, B, whole);
    backward(0, B / 2, halves);
    backward(B / 2, B, halves);
    for (size_t i = 0; i < whole.size(); ++i)
      for (const int64_t b : {int64_t{0}, B / 2 - 1, B / 2, int64_t{1023}, int64_t{1024}, B - 1}) {
        SCOPED_TRACE(fmt::format("deterministic {}, gradient {}, row {}", deterministic, i, b));
        const std::vector<double> got = row_of(whole[i], b), want = row_of(halves[i], b);
        // Only dq is summed in any order, and rounded to bf16 then.
        EXPECT_LE(relative_error(got, want), deterministic || i > 0 ? 0.0 : 0x1p-8);
        EXPECT_GT(std::ranges::max(want), 0.0);
      }
  }
}

// As on sm_89, whose blocks have 99 KB of shared memory: no backward pass has room for whole tiles,
// nor the forward pass of heads beyond 64.
TEST_F(CudaAttention, TilesOfHalfTheRowsGiveWhatWholeOnesGive) {
  constexpr int64_t B = 2, T = 70, H = 2, G = 1, kSmallGpu = 99 * 1024, kLargeGpu = 227 * 1024;
  Operands operands(gpu());
  AttentionOptions causal, window, documents;
  window.window = 20;
  std::vector<int32_t> starts;
  for (int32_t n = 0; n < B * T; ++n) starts.push_back(n % T < 33 ? 0 : 33);
  documents.document_start = operands.zeros(DType::I32, {B, T});
  copy_from_host(gpu(), starts.data(), documents.document_start);

  const auto compare = [&](DType dtype, int64_t D, AttentionOptions options) {
    const auto random = [&](int64_t heads) { return operands.random(dtype, {B, T, heads, D}); };
    const auto zeros = [&](int64_t heads) { return operands.zeros(dtype, {B, T, heads, D}); };
    const Tensor q = random(H), k = random(G), v = random(G), dout = random(H);
    Context ctx = operands.with_workspace(
        attention_workspace_bytes(gpu().facts, {dtype, B, T, T, H, G, D, true}));
    options.scale = 1.0 / std::sqrt(static_cast<double>(D));
    const auto run = [&](int64_t shared_bytes) {
      const std::array<Tensor, 4> results{zeros(H), zeros(H), zeros(G), zeros(G)};
      const auto& [out, dq, dk, dv] = results;
      const Tensor lse = operands.zeros(DType::F32, {B, H, T});
      const AttentionTensors tensors{q, k, v, out, lse};
      cuda::fallback_attention_forward(ctx, tensors, options, shared_bytes);
      cuda::fallback_attention_backward(ctx, tensors, {dout, dq, dk, dv}, options, shared_bytes);
      return results;
    };
    const auto whole = run(kLargeGpu), halved = run(kSmallGpu);
    for (size_t i = 0; i < whole.size(); ++i)
      for (int64_t b = 0; b < B; ++b) {
        const std::vector<double> got = row_of(halved[i], b), want = row_of(whole[i], b);
        EXPECT_LE(relative_error(got, want), tolerance_of(dtype))
            << "result " << i << ", row " << b;
        EXPECT_GT(std::ranges::max(want), 0.0);
        // Equal bits would mean equal tiles: a maximum is met earlier or later.
        if (i == 0 && dtype == DType::F32) {
          EXPECT_EQ(got == want, D <= 64) << "row " << b;
        }
      }
  };
  for (const DType dtype : {DType::F32, DType::BF16, DType::F16})
    for (const int64_t D : {64, 80, 256}) {
      SCOPED_TRACE(fmt::format("{} heads of {}", name_of(dtype), D));
      for (const AttentionOptions& options : {causal, window, documents})
        compare(dtype, D, options);
    }
}

// What is reserved is a bound by formula; a graph above it would be refused, and slower kernels
// run.
TEST_F(CudaAttention, CudnnKeepsToWhatIsReserved) {
  struct Heads {
    int64_t B, T, H, G, D;
  };
  for (const auto& [B, T, H, G, D] : {Heads{32, 2048, 12, 12, 64},
                                      {8, 2048, 32, 8, 128},
                                      {1, 8192, 32, 8, 128},
                                      {4, 192, 16, 4, 64}})
    for (const bool deterministic : {true, false}) {
      SCOPED_TRACE(fmt::format("B {}, T {}, deterministic {}", B, T, deterministic));
      Operands operands(gpu());
      const auto random = [&](int64_t heads) {
        return operands.random(DType::BF16, {B, T, heads, D});
      };
      const Tensor q = random(H), k = random(G), v = random(G), out = random(H), dout = random(H);
      const Tensor dq = random(H), dk = random(G), dv = random(G);
      const Tensor lse = operands.zeros(DType::F32, {B, H, T});
      Context ctx = operands.with_workspace(
          attention_workspace_bytes(gpu().facts, {DType::BF16, B, T, T, H, G, D, deterministic}));
      ctx.deterministic = deterministic;
      AttentionOptions options;
      options.scale = 0.125;
      const AttentionTensors tensors{q, k, v, out, lse};
      EXPECT_TRUE(cuda::cudnn_attention_forward(ctx, tensors, options));
      EXPECT_TRUE(cuda::cudnn_attention_backward(ctx, tensors, {dout, dq, dk, dv}, options));
    }
}

}  // namespace
}  // namespace ingot::test
