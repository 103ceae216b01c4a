#include "ops/layer_norm.h"
#include "probe/cases/norm_case.h"

namespace ingot {
namespace {

constexpr double kEps = 1e-5;

// What a backward pass is given; the case changes it.
LayerNormBackward backward_of(const OpTensors& t) {
  return {.dy = t.at("d.y"),
          .x = t.at("x"),
          .weight = t.at("weight"),
          .bias = t.at("bias"),
          .rstd = t.at("rstd"),
          .dx = t.at("d.x"),
          .dweight = t.at("d.weight"),
          .dbias = t.at("d.bias")};
}

OpCase norm_case(std::string name, int64_t N, int64_t C) {
  OpCase c = norm_of_rows("layer_norm", std::move(name), N, C);
  c.inputs.push_back({.name = "bias", .shape = {C}, .wide_gradient = true});
  c.forward = [](Context& ctx, const OpTensors& t) {
    layer_norm_forward(ctx, t.at("x"), t.at("weight"), t.at("bias"), kEps, t.at("y"), t.at("rstd"));
  };
  c.backward = [](Context& ctx, const OpTensors& t) { layer_norm_backward(ctx, backward_of(t)); };
  c.workspace_bytes = [=](const Context& ctx, DType) {
    return layer_norm_backward_workspace_bytes(ctx.facts, N, C);
  };
  c.flops = static_cast<double>(18 * N * C);
  return c;
}

// The backward pass builds y again, over what is left of the forward's, and adds to dx.
OpCase residual_case(std::string name, int64_t N, int64_t C) {
  return with_residual(norm_case(std::move(name), N, C), [](Context& ctx, const OpTensors& t) {
    zero(ctx, t.at("y"));
    LayerNormBackward norm = backward_of(t);
    norm.accumulate_dx = true;
    norm.y = t.at("y");
    layer_norm_backward(ctx, norm);
  });
}

std::vector<OpCase> small_cases() {
  return {norm_case("layer_norm_n6_c20", 6, 20), norm_case("layer_norm_n70_c9", 70, 9),
          residual_case("layer_norm_residual_n5_c37", 5, 37)};
}

std::vector<OpCase> large_cases() {
  return {norm_case("layer_norm_n1024_c256", 1024, 256),
          norm_case("layer_norm_n300_c1280", 300, 1280),
          residual_case("layer_norm_residual_n512_c768", 512, 768),
          residual_case("layer_norm_residual_n64_c4100", 64, 4100)};
}

std::vector<OpCase> bench_cases(const BenchShape& s) {
  return {norm_case("layer_norm", s.N(), s.C)};
}

}  // namespace

OpCaseSet layer_norm_cases() {
  return {.small = small_cases(), .large = large_cases(), .bench = bench_cases};
}

}  // namespace ingot
