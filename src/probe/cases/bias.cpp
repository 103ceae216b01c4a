#include "ops/bias.h"
#include "ops/memory.h"
#include "probe/op_case.h"

namespace ingot {
namespace {

OpCase bias_case(std::string name, int64_t N, int64_t R) {
  OpCase c;
  c.op = "bias";
  c.name = std::move(name);
  c.inputs = {{.name = "x", .shape = {N, R}},
              {.name = "bias", .shape = {R}, .wide_gradient = true}};
  c.outputs = {{.name = "y", .shape = {N, R}}};
  c.forward = [](Context& ctx, const OpTensors& t) {
    copy(ctx, t.at("x"), t.at("y"));
    add_bias(ctx, t.at("y"), t.at("bias"));
  };
  c.backward = [](Context& ctx, const OpTensors& t) {
    copy(ctx, t.at("d.y"), t.at("d.x"));
    bias_gradient(ctx, t.at("d.y"), t.at("d.bias"));
  };
  c.workspace_bytes = [=](const Context& ctx, DType) {
    return bias_gradient_workspace_bytes(ctx.facts, N, R);
  };
  // Both copies, a row's sum and the sum of rows.
  c.flops = static_cast<double>(2 * N * R);
  c.elements = static_cast<double>(7 * N * R);
  return c;
}

std::vector<OpCase> small_cases() {
  return {bias_case("bias_n5_r21", 5, 21), bias_case("bias_n70_r3", 70, 3)};
}

std::vector<OpCase> large_cases() {
  return {bias_case("bias_n1000_r2304", 1000, 2304), bias_case("bias_n300_r252", 300, 252)};
}

std::vector<OpCase> bench_cases(const BenchShape& s) {
  return {bias_case("bias", s.N(), s.F)};
}

}  // namespace

OpCaseSet bias_cases() {
  return {.small = small_cases(), .large = large_cases(), .bench = bench_cases};
}

}  // namespace ingot
