#include <cmath>

#include "ops/fused_linear.h"
#include "ops/matmul.h"
#include "ops/memory.h"
#include "probe/op_case.h"
#include "probe/rope_tables.h"

namespace ingot {
namespace {

// y(N, C) = swiglu(x(N, C) · w_up(2F, C)ᵀ) · w_down(C, F)ᵀ, there and back.
enum class Act { Rebuilt, Kept };
OpCase mlp_case(std::string name, int64_t N, int64_t C, int64_t F, Act kept = Act::Rebuilt) {
  OpCase c;
  c.op = "mlp";
  c.name = std::move(name);
  const auto weight = [](const char* called, int64_t rows, int64_t columns) {
    return OpInput{.name = called,
                   .shape = {rows, columns},
                   .scale = 1.0 / std::sqrt(static_cast<double>(columns)),
                   .wide_gradient = true};
  };
  c.inputs = {{.name = "x", .shape = {N, C}}, weight("w_up", 2 * F, C), weight("w_down", C, F)};
  c.outputs = {{.name = "gate_up", .shape = {N, 2 * F}, .differentiable = false},
               {.name = "act", .shape = {N, F}, .differentiable = false},
               {.name = "y", .shape = {N, C}}};
  c.forward = [](Context& ctx, const OpTensors& t) {
    linear_swiglu_forward(ctx, t.at("x"), t.at("w_up"), t.at("gate_up"), t.at("act"));
    linear_forward(ctx, t.at("act"), t.at("w_down"), t.at("y"));
  };
  c.backward = [=](Context& ctx, const OpTensors& t) {
    Workspace::Scope scope(ctx.workspace);
    const Tensor d_up = ctx.workspace.take(t.at("x").dtype, {N, 2 * F});
    const Tensor act = ctx.workspace.take(t.at("x").dtype, {N, F});
    if (kept == Act::Kept) copy(ctx, t.at("act"), act);
    linear_swiglu_backward(ctx, t.at("d.y"), t.at("w_down"), t.at("gate_up"), d_up, act,
                           kept == Act::Kept);
    linear_backward_weight(ctx, t.at("d.y"), act, t.at("d.w_down"), Accumulate::Yes);
    linear_backward_input(ctx, d_up, t.at("w_up"), t.at("d.x"), Accumulate::No);
    linear_backward_weight(ctx, d_up, t.at("x"), t.at("d.w_up"), Accumulate::Yes);
  };
  c.workspace_bytes = [=](const Context& ctx, DType dtype) {
    const int64_t size = size_of(dtype);
    return align_up(N * 2 * F * size) + align_up(N * F * size) + matmul_workspace_bytes(ctx.facts);
  };
  c.flops = 18.0 * static_cast<double>(N) * static_cast<double>(C) * static_cast<double>(F);
  // Each operand of six GEMMs, except one output, the gradient of act, which is neither written nor
  // read.
  c.elements = static_cast<double>(6 * N * C + 6 * C * F + 14 * N * F);
  c.wide_bytes = 4.0 * static_cast<double>(3 * C * F);
  return c;
}

// y(B·T, (H + G)·D) = x(B·T, C) · wᵀ, whose first H heads of D are rotated, there and back.
OpCase linear_rope_case(std::string name, int64_t B, int64_t T, int64_t C, int64_t H, int64_t G,
                        int64_t D, const std::vector<double>& positions = {}) {
  OpCase c;
  c.op = "linear_rope";
  c.name = std::move(name);
  const int64_t N = B * T, R = (H + G) * D;
  c.inputs = {{.name = "x", .shape = {N, C}},
              {.name = "w",
               .shape = {R, C},
               .scale = 1.0 / std::sqrt(static_cast<double>(C)),
               .wide_gradient = true}};
  if (!positions.empty())
    c.inputs.push_back(
        {.name = "positions", .shape = {B, T}, .type = DType::I32, .values = positions});
  c.outputs = {{.name = "y", .shape = {N, R}}};
  const auto tables = [=](Context& ctx, const OpTensors& t) {
    RopeInput rope = take_rope_tables(ctx, t.at("x").dtype, T, D);
    if (!positions.empty()) rope.positions = t.at("positions");
    return rope;
  };
  const auto heads = [=](const Tensor& rows) {  // (B, T, H, D)
    return rows.slice(1, 0, H * D).split(1, H, D).split(0, B, T);
  };
  c.forward = [=](Context& ctx, const OpTensors& t) {
    Workspace::Scope scope(ctx.workspace);
    const RopeInput rope = tables(ctx, t);
    linear_rope_forward(ctx, t.at("x"), t.at("w"), t.at("y"), heads(t.at("y")), rope);
  };
  c.backward = [=](Context& ctx, const OpTensors& t) {
    Workspace::Scope scope(ctx.workspace);
    const RopeInput rope = tables(ctx, t);
    const Tensor dy = ctx.workspace.take(t.at("x").dtype, {N, R});
    copy(ctx, t.at("d.y"), dy);
    rope_backward(ctx, heads(dy), rope);
    linear_backward_input(ctx, dy, t.at("w"), t.at("d.x"), Accumulate::No);
    linear_backward_weight(ctx, dy, t.at("x"), t.at("d.w"), Accumulate::Yes);
  };
  c.workspace_bytes = [=](const Context& ctx, DType dtype) {
    return rope_tables_bytes(T, D) + align_up(N * R * size_of(dtype)) +
           matmul_workspace_bytes(ctx.facts);
  };
  c.flops = 6.0 * static_cast<double>(N) * static_cast<double>(C) * static_cast<double>(R);
  // Each operand of three GEMMs, the copy of dy and its inverse rotation.
  c.elements = static_cast<double>(3 * N * C + 2 * R * C + 5 * N * R + 2 * N * H * D);
  c.wide_bytes = 4.0 * static_cast<double>(R * C);
  return c;
}

std::vector<OpCase> small_cases() {
  return {mlp_case("mlp_n5_c6_f7", 5, 6, 7),
          linear_rope_case("linear_rope_b2_t3_c5_h2_g1_d4", 2, 3, 5, 2, 1, 4)};
}

// Beyond 10⁸ multiply-adds, where a GPU may have a kernel for both: whole tiles, and parts of them.
std::vector<OpCase> large_cases() {
  std::vector<double> positions;
  for (int i = 0; i < 320; ++i) positions.push_back(i * 7 % 160);
  return {mlp_case("mlp_n512_c256_f1024", 512, 256, 1024),
          mlp_case("mlp_n304_c264_f1416", 304, 264, 1416),
          mlp_case("mlp_n80_c1600_f1024", 80, 1600, 1024),
          // Rows of a decoder's step.
          mlp_case("mlp_n1_c512_f1028", 1, 512, 1028),
          mlp_case("mlp_n16_c264_f1416", 16, 264, 1416),
          linear_rope_case("linear_rope_b1_t5_c512_h6_g2_d64", 1, 5, 512, 6, 2, 64),
          linear_rope_case("linear_rope_b5_t2_c512_h4_g2_d20", 5, 2, 512, 4, 2, 20),
          mlp_case("mlp_kept_n304_c264_f1416", 304, 264, 1416, Act::Kept),
          linear_rope_case("linear_rope_b2_t256_c512_h6_g2_d64", 2, 256, 512, 6, 2, 64),
          linear_rope_case("linear_rope_b2_t160_c520_h7_g2_d64", 2, 160, 520, 7, 2, 64, positions),
          linear_rope_case("linear_rope_b1_t400_c256_h9_g1_d128", 1, 400, 256, 9, 1, 128)};
}

std::vector<OpCase> bench_cases(const BenchShape& s) {
  return {mlp_case("mlp", s.N(), s.C, s.F),
          linear_rope_case("linear_rope", s.B, s.T, s.C, 2 * s.H, s.H, s.D)};
}

}  // namespace

OpCaseSet fused_linear_cases() {
  return {.small = small_cases(), .large = large_cases(), .bench = bench_cases};
}

}  // namespace ingot
