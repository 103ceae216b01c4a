#include "ops/fp8.h"
#include "ops/rms_norm.h"
#include "probe/cases.h"

namespace ingot {
namespace {

constexpr double kScale = 16.0;  // a power of two; values are around 1
enum class Orders { Rows, Transposed, Both };

// Inputs that every 8-bit result needs beside its own.
std::vector<OpInput> with_scale(std::vector<OpInput> inputs) {
  for (const auto& [name, value] : {std::pair{"scale", kScale}, std::pair{"inverse", 1 / kScale}})
    inputs.push_back({.name = name,
                      .shape = {1},
                      .fill = OpInput::Fill::Ones,
                      .scale = value,
                      .differentiable = false,
                      .wide = true});
  return inputs;
}

// A matrix (N, C) to be rounded, in scratch memory.
Quantized scratch(Context& ctx, const OpTensors& t, DType dtype, int64_t N, int64_t C,
                  Orders orders) {
  Quantized q;
  if (orders != Orders::Transposed) q.rows = ctx.workspace.take(dtype, {N, C});
  if (orders != Orders::Rows) q.transposed = ctx.workspace.take(dtype, {C, N});
  q.scale = t.at("scale");
  q.inverse = t.at("inverse");
  if (orders != Orders::Transposed) q.amax = ctx.workspace.take(DType::F32, {1});
  return q;
}

// Room for `matrices` of 8 bits, (N, C) each, their maxima, and what the ops ask for.
int64_t scratch_bytes(const Context& ctx, DType dtype, int64_t matrices, int64_t N, int64_t C) {
  return matrices * (align_up(N * C) + align_up(4)) + fp8_workspace_bytes(ctx.facts, dtype, N, C) +
         rms_norm_backward_workspace_bytes(ctx.facts, N, C);
}

// x(N, C) in both orders.
OpCase quantize_case(int64_t N, int64_t C) {
  OpCase c;
  c.op = c.name = "fp8_quantize";
  c.inputs = with_scale({{.name = "x", .shape = {N, C}, .differentiable = false}});
  c.forward = [=](Context& ctx, const OpTensors& t) {
    const Workspace::Scope scope(ctx.workspace);
    quantize(ctx, t.at("x"), scratch(ctx, t, DType::F8E4M3, N, C, Orders::Both));
  };
  c.workspace_bytes = [=](const Context& ctx, DType dtype) {
    return scratch_bytes(ctx, dtype, 2, N, C);
  };
  c.elements = static_cast<double>(N * C);
  c.wide_bytes = static_cast<double>(2 * N * C);
  return c;
}

// Forward to rows; back with the forward's output again, transposed, and dx in both orders.
OpCase rms_norm_case(int64_t N, int64_t C) {
  constexpr double kEps = 1e-5;
  OpCase c;
  c.op = c.name = "fp8_rms_norm";
  c.inputs = with_scale(
      {{.name = "x", .shape = {N, C}}, {.name = "weight", .shape = {C}, .wide_gradient = true}});
  c.outputs = {{.name = "y", .shape = {N, C}},  // never written; its gradient is an input
               {.name = "rstd", .shape = {N}, .differentiable = false, .wide = true}};
  c.forward = [=](Context& ctx, const OpTensors& t) {
    const Workspace::Scope scope(ctx.workspace);
    rms_norm_forward(ctx, t.at("x"), t.at("weight"), kEps,
                     scratch(ctx, t, DType::F8E4M3, N, C, Orders::Rows), t.at("rstd"));
  };
  c.backward = [=](Context& ctx, const OpTensors& t) {
    const Workspace::Scope scope(ctx.workspace);
    const Quantized y = scratch(ctx, t, DType::F8E4M3, N, C, Orders::Transposed);
    rms_norm_backward(ctx, t.at("d.y"), t.at("x"), t.at("weight"), t.at("rstd"), t.at("d.x"), true,
                      t.at("d.weight"), y, scratch(ctx, t, DType::F8E5M2, N, C, Orders::Both));
  };
  c.workspace_bytes = [=](const Context& ctx, DType dtype) {
    return scratch_bytes(ctx, dtype, 3, N, C);
  };
  c.elements = static_cast<double>(5 * N * C);
  c.wide_bytes = static_cast<double>(4 * N * C);
  return c;
}

// Forward to rows; back to both orders of the gradient, and the forward's output again, transposed.
OpCase swiglu_case(int64_t N, int64_t F) {
  OpCase c;
  c.op = c.name = "fp8_swiglu";
  c.inputs = with_scale({{.name = "gate_up", .shape = {N, 2 * F}, .differentiable = false},
                         {.name = "dout", .shape = {N, F}, .differentiable = false}});
  c.forward = [=](Context& ctx, const OpTensors& t) {
    const Workspace::Scope scope(ctx.workspace);
    swiglu_forward(ctx, t.at("gate_up"), scratch(ctx, t, DType::F8E4M3, N, F, Orders::Rows));
  };
  c.backward = [=](Context& ctx, const OpTensors& t) {
    const Workspace::Scope scope(ctx.workspace);
    const Quantized out = scratch(ctx, t, DType::F8E4M3, N, F, Orders::Transposed);
    swiglu_backward(ctx, t.at("dout"), t.at("gate_up"),
                    scratch(ctx, t, DType::F8E5M2, N, 2 * F, Orders::Both), out);
  };
  c.workspace_bytes = [=](const Context& ctx, DType dtype) {
    return scratch_bytes(ctx, dtype, 3, N, 2 * F);
  };
  c.elements = static_cast<double>(5 * N * F);
  c.wide_bytes = static_cast<double>(6 * N * F);
  return c;
}

}  // namespace

std::vector<OpCase> fp8_bench_cases(const BenchShape& s) {
  return {quantize_case(s.N(), s.C), rms_norm_case(s.N(), s.C), swiglu_case(s.N(), s.F)};
}

}  // namespace ingot
