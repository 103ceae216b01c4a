#include "ops/matmul.h"
#include "probe/cases.h"

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
  c.workspace_bytes = [=](DType dtype, int) {
    return matmul_workspace_bytes(dtype, N * C + R * C + N * R);
  };
  c.flops = 6.0 * static_cast<double>(N) * static_cast<double>(R) * static_cast<double>(C);
  c.bytes = 4.0 * 3 * static_cast<double>(N * C + R * C + N * R);
  return c;
}

}  // namespace

std::vector<OpCase> matmul_cases() {
  return {linear_case("matmul_n3_r13_c21", 3, 13, 21), linear_case("matmul_n19_r9_c14", 19, 9, 14)};
}

std::vector<OpCase> matmul_bench_cases() {
  using S = BenchShape;
  return {
      linear_case("matmul_qkv", S::N, 3 * S::C, S::C), linear_case("matmul_out", S::N, S::C, S::C),
      linear_case("matmul_up", S::N, 2 * S::F, S::C), linear_case("matmul_down", S::N, S::C, S::F)};
}

}  // namespace ingot
