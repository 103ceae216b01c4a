#include "ops/fp8.h"

#include <algorithm>
#include <cmath>

#include "ops/matmul.h"
#include "ops/memory.h"
#include "ops/rms_norm.h"
#include "probe/op_case.h"

namespace ingot {
namespace {

constexpr double kScale = 16.0;  // a power of two; values are around 1
enum class Orders { Rows, Transposed, Both };

// The 8-bit ops take F32 and BF16; there is no double to compare them with.
OpCase fp8_case(std::string op, std::string name) {
  OpCase c;
  c.op = std::move(op);
  c.name = std::move(name);
  for (const auto& [scalar, value] : {std::pair{"scale", kScale}, std::pair{"inverse", 1 / kScale}})
    c.inputs.push_back({.name = scalar,
                        .shape = {1},
                        .fill = OpInput::Fill::Ones,
                        .scale = value,
                        .type = DType::F32});
  c.dtypes = c.cuda_dtypes = {DType::F32, DType::BF16};
  return c;
}

Quantized with_scale(const OpTensors& t) {
  Quantized q;
  q.scale = t.at("scale");
  q.inverse = t.at("inverse");
  return q;
}

// A matrix (N, C) to be rounded, in scratch memory.
Quantized scratch(Context& ctx, const OpTensors& t, DType dtype, int64_t N, int64_t C,
                  Orders orders) {
  Quantized q = with_scale(t);
  if (orders != Orders::Transposed) q.rows = ctx.workspace.take(dtype, {N, C});
  if (orders != Orders::Rows) q.transposed = ctx.workspace.take(dtype, {C, N});
  if (orders != Orders::Transposed) q.amax = ctx.workspace.take(DType::F32, {1});
  return q;
}
// To be rounded into an output.
Quantized rows_of(const OpTensors& t, const char* output) {
  Quantized q = with_scale(t);
  q.rows = t.at(output);
  return q;
}

// Room for `matrices` of 8 bits, (N, C) each, their maxima, and what the ops ask for.
auto scratch_bytes(int64_t matrices, int64_t N, int64_t C) {
  return [=](const Context& ctx, DType dtype) {
    return matrices * (align_up(N * C) + align_up(4)) +
           fp8_workspace_bytes(ctx.facts, dtype, N, C) +
           rms_norm_backward_workspace_bytes(ctx.facts, N, C);
  };
}

// x(N, C) in both orders, and its largest value.
OpCase quantize_case(std::string name, int64_t N, int64_t C) {
  OpCase c = fp8_case("fp8_quantize", std::move(name));
  c.inputs.push_back({.name = "x", .shape = {N, C}, .differentiable = false});
  c.outputs = {{.name = "rows", .shape = {N, C}, .type = DType::F8E4M3},
               {.name = "transposed", .shape = {C, N}, .type = DType::F8E4M3},
               {.name = "amax", .shape = {1}, .type = DType::F32}};
  c.forward = [](Context& ctx, const OpTensors& t) {
    zero(ctx, t.at("amax"));
    quantize(ctx, t.at("x"),
             {t.at("rows"), t.at("transposed"), t.at("scale"), t.at("inverse"), t.at("amax")});
  };
  c.reference = [=](const OpValues& in) {
    OpValues out{{"rows", {}}, {"transposed", std::vector<double>(in.at("x").size())}};
    double amax = 0.0;
    for (int64_t i = 0; i < N * C; ++i) {
      const double x = in.at("x")[static_cast<size_t>(i)];
      const double rounded = F8E4M3::from_float(static_cast<float>(kScale * x)).to_float();
      out["rows"].push_back(rounded);
      out["transposed"][static_cast<size_t>(i % C * N + i / C)] = rounded;
      amax = std::max(amax, std::abs(x));
    }
    out["amax"] = {amax};
    return out;
  };
  c.elements = static_cast<double>(N * C);
  c.wide_bytes = static_cast<double>(2 * N * C);
  return c;
}

// Forward to rows; back with the forward's output again, transposed, and dx in both orders.
OpCase rms_norm_case(std::string name, int64_t N, int64_t C) {
  constexpr double kEps = 1e-5;
  OpCase c = fp8_case("fp8_rms_norm", std::move(name));
  c.inputs.push_back({.name = "x", .shape = {N, C}});
  c.inputs.push_back({.name = "weight", .shape = {C}, .wide_gradient = true});
  c.outputs = {{.name = "y", .shape = {N, C}, .type = DType::F8E4M3},
               {.name = "rstd", .shape = {N}, .differentiable = false, .type = DType::F32}};
  c.forward = [](Context& ctx, const OpTensors& t) {
    rms_norm_forward(ctx, t.at("x"), t.at("weight"), kEps, rows_of(t, "y"), t.at("rstd"));
  };
  c.backward = [=](Context& ctx, const OpTensors& t) {
    const Workspace::Scope scope(ctx.workspace);
    const Quantized y = scratch(ctx, t, DType::F8E4M3, N, C, Orders::Transposed);
    rms_norm_backward(ctx, t.at("d.y"), t.at("x"), t.at("weight"), t.at("rstd"), t.at("d.x"), true,
                      t.at("d.weight"), y, scratch(ctx, t, DType::F8E5M2, N, C, Orders::Both));
  };
  c.reference = [=](const OpValues& in) {
    OpValues out;
    for (int64_t n = 0; n < N; ++n) {
      const double* x = in.at("x").data() + n * C;
      double squares = 0.0;
      for (int64_t i = 0; i < C; ++i) squares += x[i] * x[i];
      const double rstd = 1.0 / std::sqrt(squares / static_cast<double>(C) + kEps);
      out["rstd"].push_back(rstd);
      for (int64_t i = 0; i < C; ++i)
        out["y"].push_back(kScale * x[i] * rstd * in.at("weight")[static_cast<size_t>(i)]);
    }
    return out;
  };
  c.workspace_bytes = scratch_bytes(3, N, C);
  c.elements = static_cast<double>(5 * N * C);
  c.wide_bytes = static_cast<double>(4 * N * C);
  return c;
}

// An activation of x(N, W) to out(N, F): forward to rows; back to both orders of the gradient, and
// the forward's output again, transposed.
struct Activation {
  const char* op;
  int64_t inputs_a_column;  // W / F
  void (*forward)(Context&, const Tensor& x, const Quantized& out);
  void (*backward)(Context&, const Tensor& dout, const Tensor& x, const Quantized& dx,
                   const Quantized& out);
  double (*define)(const double* row, int64_t F, int64_t column);
};
constexpr Activation kSwiglu{"fp8_swiglu", 2, swiglu_forward, swiglu_backward,
                             [](const double* row, int64_t F, int64_t column) {
                               const double gate = row[column], up = row[F + column];
                               return gate / (1.0 + std::exp(-gate)) * up;
                             }};
constexpr Activation kReluSquared{"fp8_relu_squared", 1, relu_squared_forward,
                                  relu_squared_backward,
                                  [](const double* row, int64_t, int64_t column) {
                                    const double positive = std::max(row[column], 0.0);
                                    return positive * positive;
                                  }};

OpCase activation_case(const Activation& a, std::string name, int64_t N, int64_t F) {
  const int64_t W = a.inputs_a_column * F;
  OpCase c = fp8_case(a.op, std::move(name));
  c.inputs.push_back({.name = "x", .shape = {N, W}, .differentiable = false});
  c.outputs = {{.name = "out", .shape = {N, F}, .type = DType::F8E4M3}};
  c.forward = [=](Context& ctx, const OpTensors& t) {
    a.forward(ctx, t.at("x"), rows_of(t, "out"));
  };
  c.backward = [=](Context& ctx, const OpTensors& t) {
    const Workspace::Scope scope(ctx.workspace);
    const Quantized out = scratch(ctx, t, DType::F8E4M3, N, F, Orders::Transposed);
    a.backward(ctx, t.at("d.out"), t.at("x"), scratch(ctx, t, DType::F8E5M2, N, W, Orders::Both),
               out);
  };
  c.reference = [=](const OpValues& in) {
    OpValues out;
    for (int64_t i = 0; i < N * F; ++i)
      out["out"].push_back(kScale * a.define(in.at("x").data() + i / F * W, F, i % F));
    return out;
  };
  c.workspace_bytes = scratch_bytes(3, N, W);
  c.elements = static_cast<double>((2 * a.inputs_a_column + 1) * N * F);
  c.wide_bytes = static_cast<double>((2 * a.inputs_a_column + 2) * N * F);
  return c;
}

// y(N, R) = x(N, C) · w(R, C)ᵀ and both gradients, of operands that are rounded first.
OpCase linear_case(std::string name, int64_t N, int64_t R, int64_t C) {
  OpCase c = fp8_case("fp8_linear", std::move(name));
  c.inputs.push_back({.name = "x", .shape = {N, C}});
  c.inputs.push_back({.name = "w", .shape = {R, C}, .wide_gradient = true});
  c.outputs = {{.name = "y", .shape = {N, R}}};
  const auto rounded = [](Context& ctx, const OpTensors& t, const char* of, DType dtype) {
    const Tensor& x = t.at(of);
    const Quantized q = scratch(ctx, t, dtype, x.shape[0], x.shape[1], Orders::Both);
    quantize(ctx, x, q);
    return q;
  };
  c.forward = [=](Context& ctx, const OpTensors& t) {
    const Workspace::Scope scope(ctx.workspace);
    const Quantized x = rounded(ctx, t, "x", DType::F8E4M3),
                    w = rounded(ctx, t, "w", DType::F8E4M3);
    linear_forward(ctx, x, w, t.at("y"));
  };
  c.backward = [=](Context& ctx, const OpTensors& t) {
    const Workspace::Scope scope(ctx.workspace);
    const Quantized x = rounded(ctx, t, "x", DType::F8E4M3),
                    w = rounded(ctx, t, "w", DType::F8E4M3);
    const Quantized dy = rounded(ctx, t, "d.y", DType::F8E5M2);
    linear_backward_input(ctx, dy, w, t.at("d.x"), Accumulate::No);
    linear_backward_weight(ctx, dy, x, t.at("d.w"), Accumulate::Yes);
  };
  c.reference = [=](const OpValues& in) {
    const auto eight_bits = [&](const char* name_of_input, int64_t index) -> double {
      const double value = in.at(name_of_input)[static_cast<size_t>(index)];
      return F8E4M3::from_float(static_cast<float>(kScale * value)).to_float() / kScale;
    };
    OpValues out;
    for (int64_t i = 0; i < N * R; ++i) {
      double sum = 0.0;
      for (int64_t k = 0; k < C; ++k)
        sum += eight_bits("x", i / R * C + k) * eight_bits("w", i % R * C + k);
      out["y"].push_back(sum);
    }
    return out;
  };
  c.workspace_bytes = [=](const Context& ctx, DType) {
    return 2 * (align_up(N * C) + align_up(R * C) + align_up(N * R)) + 3 * align_up(4) +
           matmul_workspace_bytes(ctx.facts);
  };
  c.cuda_dtypes = {DType::BF16};  // tensor cores add up to fewer digits than F32's
  return c;
}

std::vector<OpCase> bench_cases(const BenchShape& s) {
  if (s.dtype == DType::F32) return {};  // the CPU only imitates 8 bits
  return {quantize_case("fp8_quantize", s.N(), s.C), rms_norm_case("fp8_rms_norm", s.N(), s.C),
          activation_case(kSwiglu, "fp8_swiglu", s.N(), s.F)};
}

}  // namespace

OpCaseSet fp8_cases() {
  return {.small = {quantize_case("fp8_quantize_n16_c48", 16, 48),
                    rms_norm_case("fp8_rms_norm_n32_c48", 32, 48),
                    activation_case(kSwiglu, "fp8_swiglu_n16_f48", 16, 48),
                    activation_case(kReluSquared, "fp8_relu_squared_n16_f48", 16, 48),
                    linear_case("fp8_linear_n16_r32_c48", 16, 32, 48)},
          .large = {quantize_case("fp8_quantize_n304_c1280", 304, 1280),
                    rms_norm_case("fp8_rms_norm_n304_c1280", 304, 1280),
                    activation_case(kSwiglu, "fp8_swiglu_n304_f1280", 304, 1280),
                    activation_case(kReluSquared, "fp8_relu_squared_n304_f1280", 304, 1280),
                    linear_case("fp8_linear_n256_r512_c384", 256, 512, 384)},
          .bench = bench_cases};
}

}  // namespace ingot
