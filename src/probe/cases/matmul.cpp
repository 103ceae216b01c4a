#include "ops/matmul.h"
#include "ops/memory.h"
#include "probe/op_case.h"

namespace ingot {
namespace {

// y(N, R) = x(N, C) · w(R, C)ᵀ and both gradients.
OpCase linear_case(std::string name, int64_t N, int64_t R, int64_t C) {
  OpCase c;
  c.op = "matmul";
  c.name = std::move(name);
  c.inputs = {{.name = "x", .shape = {N, C}},
              {.name = "w", .shape = {R, C}, .wide_gradient = true}};
  c.outputs = {{.name = "y", .shape = {N, R}}};
  c.forward = [](Context& ctx, const OpTensors& t) {
    linear_forward(ctx, t.at("x"), t.at("w"), t.at("y"));
  };
  c.backward = [](Context& ctx, const OpTensors& t) {
    linear_backward_input(ctx, t.at("d.y"), t.at("w"), t.at("d.x"), Accumulate::No);
    linear_backward_weight(ctx, t.at("d.y"), t.at("x"), t.at("d.w"), Accumulate::Yes);
  };
  c.workspace_bytes = [](const Context& ctx, DType) { return matmul_workspace_bytes(ctx.facts); };
  c.flops = 6.0 * static_cast<double>(N) * static_cast<double>(R) * static_cast<double>(C);
  c.elements = static_cast<double>(3 * N * C + 2 * R * C + 3 * N * R);
  c.wide_bytes = 4.0 * static_cast<double>(R * C);
  return c;
}

// y(N, R) = x(N, C) · w(R, C)ᵀ + addend(N, R): how a branch joins the residual stream.
OpCase added_case(std::string name, int64_t N, int64_t R, int64_t C) {
  OpCase c = linear_case(std::move(name), N, R, C);
  c.inputs.push_back({.name = "addend", .shape = {N, R}});
  c.forward = [](Context& ctx, const OpTensors& t) {
    linear_forward(ctx, t.at("x"), t.at("w"), t.at("y"), t.at("addend"));
  };
  const auto gemms_backward = c.backward;
  c.backward = [gemms_backward](Context& ctx, const OpTensors& t) {
    gemms_backward(ctx, t);
    copy(ctx, t.at("d.y"), t.at("d.addend"));
  };
  return c;
}

std::vector<OpCase> small_cases() {
  return {linear_case("matmul_n3_r13_c21", 3, 13, 21), linear_case("matmul_n19_r9_c14", 19, 9, 14),
          added_case("matmul_added_n5_r7_c6", 5, 7, 6)};
}

std::vector<OpCase> large_cases() {
  return {linear_case("matmul_n512_r768_c256", 512, 768, 256),
          linear_case("matmul_n256_r128_c1280", 256, 128, 1280),
          linear_case("matmul_n300_r1000_c264", 300, 1000, 264),
          // Rows of a decoder's step.
          linear_case("matmul_n1_r1003_c2048", 1, 1003, 2048),
          linear_case("matmul_n13_r330_c1160", 13, 330, 1160),
          added_case("matmul_added_n1_r768_c8200", 1, 768, 8200),
          added_case("matmul_added_n16_r1000_c264", 16, 1000, 264),
          added_case("matmul_added_n512_r768_c256", 512, 768, 256)};
}

std::vector<OpCase> bench_cases(const BenchShape& s) {
  const int64_t N = s.N(), A = s.H * s.D;
  return {linear_case("matmul_qkv", N, 3 * A, s.C), linear_case("matmul_out", N, s.C, A),
          linear_case("matmul_up", N, 2 * s.F, s.C), linear_case("matmul_down", N, s.C, s.F)};
}

}  // namespace

OpCaseSet matmul_cases() {
  return {.small = small_cases(), .large = large_cases(), .bench = bench_cases};
}

}  // namespace ingot
