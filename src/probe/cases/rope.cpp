#include <algorithm>

#include "ops/memory.h"
#include "ops/rope.h"
#include "probe/op_case.h"
#include "probe/rope_tables.h"

namespace ingot {
namespace {

struct RopeSetting {
  RopePairs pairs = RopePairs::HalfSplit;
  RopeFrequencies frequencies = {};
  std::vector<double> positions = {};  // (B, T); empty: 0 … T-1
};

// Builds the tables in the workspace, so that they are checked against PyTorch with the rotation.
OpCase rope_case(std::string name, int64_t B, int64_t T, int64_t H, int64_t D,
                 const RopeSetting& setting) {
  OpCase c;
  c.op = "rope";
  c.name = std::move(name);
  c.inputs = {{.name = "x", .shape = {B, T, H, D}}};
  const int64_t context = std::max<int64_t>(40, T);  // more than T: positions may exceed it
  const bool explicit_positions = !setting.positions.empty();
  if (explicit_positions)
    c.inputs.push_back(
        {.name = "positions", .shape = {B, T}, .type = DType::I32, .values = setting.positions});
  c.outputs = {{.name = "y", .shape = {B, T, H, D}}};
  auto rotate = [=](Context& ctx, const OpTensors& t, const char* from, const char* to,
                    bool forward) {
    const Tensor& x = t.at(to);
    copy(ctx, t.at(from), x);
    Workspace::Scope scope(ctx.workspace);
    RopeInput rope = take_rope_tables(ctx, x.dtype, context, D, setting.frequencies);
    rope.pairs = setting.pairs;
    if (explicit_positions) rope.positions = t.at("positions");
    forward ? rope_forward(ctx, x, rope) : rope_backward(ctx, x, rope);
  };
  c.forward = [=](Context& ctx, const OpTensors& t) { rotate(ctx, t, "x", "y", true); };
  c.backward = [=](Context& ctx, const OpTensors& t) { rotate(ctx, t, "d.y", "d.x", false); };
  c.workspace_bytes = [=](const Context&, DType) { return rope_tables_bytes(context, D); };
  return c;
}

}  // namespace

RopeInput take_rope_tables(Context& ctx, DType dtype, int64_t context, int64_t D,
                           const RopeFrequencies& frequencies) {
  const DType acc = dtype == DType::F64 ? DType::F64 : DType::F32;
  const RopeInput rope{.cos = ctx.workspace.take(acc, {context, D / 2}),
                       .sin = ctx.workspace.take(acc, {context, D / 2})};
  rope_table(ctx, frequencies, rope.cos, rope.sin);
  return rope;
}

int64_t rope_tables_bytes(int64_t context, int64_t D) {
  return 2 * align_up(context * D / 2 * size_of(DType::F64));
}

namespace {

std::vector<OpCase> small_cases() {
  // Waves of pairs 0 to 5 with theta 100 and D 12 are 6 to 290 tokens long: kept, blended,
  // stretched.
  const RopeFrequencies llama3 = {.theta = 100.0,
                                  .stretch = RopeStretch::Llama3,
                                  .factor = 8.0,
                                  .low_freq_factor = 1.0,
                                  .high_freq_factor = 4.0,
                                  .original_context = 100};
  const RopeFrequencies linear = {.stretch = RopeStretch::Linear, .factor = 4.0};
  // Tables of 40 positions, more than they were made for.
  const RopeFrequencies dynamic = {
      .stretch = RopeStretch::Dynamic, .factor = 2.0, .original_context = 16};
  // Pairs 1 to 4 are between both bounds.
  const RopeFrequencies yarn = {.theta = 100.0,
                                .stretch = RopeStretch::Yarn,
                                .factor = 8.0,
                                .beta_slow = 0.5,
                                .beta_fast = 4.0,
                                .original_context = 64};
  RopeFrequencies yarn_factor = yarn;
  yarn_factor.attention_factor = 1.3;
  const std::vector<double> positions = {0, 1, 2, 0, 1, 7, 39, 0, 1, 2};
  return {
      rope_case("rope_half_b2_t5_h3_d20", 2, 5, 3, 20, {}),
      rope_case("rope_interleaved_b2_t5_h2_d42", 2, 5, 2, 42, {.pairs = RopePairs::Interleaved}),
      rope_case("rope_llama3_b1_t6_h2_d12", 1, 6, 2, 12, {.frequencies = llama3}),
      rope_case("rope_linear_b1_t6_h2_d12", 1, 6, 2, 12, {.frequencies = linear}),
      rope_case("rope_dynamic_b1_t6_h2_d12", 1, 6, 2, 12, {.frequencies = dynamic}),
      rope_case("rope_yarn_b1_t6_h2_d12", 1, 6, 2, 12, {.frequencies = yarn}),
      rope_case("rope_yarn_factor_b1_t6_h2_d12", 1, 6, 2, 12, {.frequencies = yarn_factor}),
      rope_case("rope_positions_b2_t5_h2_d16", 2, 5, 2, 16,
                {.pairs = RopePairs::Interleaved, .positions = positions}),
  };
}

std::vector<OpCase> large_cases() {
  return {rope_case("rope_half_b2_t128_h4_d64", 2, 128, 4, 64, {}),
          rope_case("rope_half_b1_t256_h6_d128", 1, 256, 6, 128, {}),
          rope_case("rope_interleaved_b2_t128_h4_d64", 2, 128, 4, 64,
                    {.pairs = RopePairs::Interleaved})};
}

std::vector<OpCase> bench_cases(const BenchShape& s) {
  const int64_t A = s.H * s.D;
  std::vector<OpCase> cases;
  for (RopePairs pairs : {RopePairs::HalfSplit, RopePairs::Interleaved}) {
    OpCase c;
    c.op = "rope";
    c.name = pairs == RopePairs::HalfSplit ? "rope_half" : "rope_interleaved";
    // Queries and keys inside packed QKV rows, rotated where they are, there and back.
    c.inputs = {{.name = "qkv", .shape = {s.B, s.T, 3 * A}, .differentiable = false},
                {.name = "cos", .shape = {s.T, s.D / 2}, .differentiable = false, .wide = true},
                {.name = "sin", .shape = {s.T, s.D / 2}, .differentiable = false, .wide = true}};
    auto heads = [s, A](const OpTensors& t) {
      return t.at("qkv").slice(2, 0, 2 * A).split(2, 2 * s.H, s.D);
    };
    auto rope = [pairs](const OpTensors& t) {
      return RopeInput{.cos = t.at("cos"), .sin = t.at("sin"), .pairs = pairs};
    };
    c.forward = [=](Context& ctx, const OpTensors& t) { rope_forward(ctx, heads(t), rope(t)); };
    c.backward = [=](Context& ctx, const OpTensors& t) { rope_backward(ctx, heads(t), rope(t)); };
    c.flops = static_cast<double>(2 * 3 * s.N() * 2 * A);
    c.elements = static_cast<double>(4 * s.N() * 2 * A);
    cases.push_back(std::move(c));
  }
  return cases;
}

}  // namespace

OpCaseSet rope_cases() {
  return {.small = small_cases(), .large = large_cases(), .bench = bench_cases};
}

}  // namespace ingot
