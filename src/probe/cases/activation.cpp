#include "ops/activation.h"
#include "probe/op_case.h"

namespace ingot {
namespace {

OpCase swiglu_case(std::string name, int64_t N, int64_t F) {
  OpCase c;
  c.op = "swiglu";
  c.name = std::move(name);
  c.inputs = {{.name = "gate_up", .shape = {N, 2 * F}, .scale = 2.0}};
  c.outputs = {{.name = "out", .shape = {N, F}}};
  c.forward = [](Context& ctx, const OpTensors& t) {
    swiglu_forward(ctx, t.at("gate_up"), t.at("out"));
  };
  c.backward = [](Context& ctx, const OpTensors& t) {
    swiglu_backward(ctx, t.at("d.out"), t.at("gate_up"), t.at("d.gate_up"), t.at("out"));
  };
  c.flops = static_cast<double>(12 * N * F);
  c.elements = static_cast<double>(9 * N * F);
  return c;
}

// The same with a gelu, for which another pair of ops is called.
OpCase geglu_case(std::string name, int64_t N, int64_t F) {
  OpCase c = swiglu_case(std::move(name), N, F);
  c.op = "geglu";
  c.forward = [](Context& ctx, const OpTensors& t) {
    geglu_forward(ctx, t.at("gate_up"), t.at("out"));
  };
  c.backward = [](Context& ctx, const OpTensors& t) {
    geglu_backward(ctx, t.at("d.out"), t.at("gate_up"), t.at("d.gate_up"), t.at("out"));
  };
  return c;
}

OpCase gelu_case(std::string name, int64_t N, int64_t F) {
  OpCase c;
  c.op = "gelu";
  c.name = std::move(name);
  c.inputs = {{.name = "x", .shape = {N, F}, .scale = 2.0}};
  c.outputs = {{.name = "out", .shape = {N, F}}};
  c.forward = [](Context& ctx, const OpTensors& t) { gelu_forward(ctx, t.at("x"), t.at("out")); };
  c.backward = [](Context& ctx, const OpTensors& t) {
    gelu_backward(ctx, t.at("d.out"), t.at("x"), t.at("d.x"), t.at("out"));
  };
  c.flops = static_cast<double>(25 * N * F);
  c.elements = static_cast<double>(6 * N * F);
  return c;
}

OpCase relu_squared_case(std::string name, int64_t N, int64_t F) {
  OpCase c;
  c.op = "relu_squared";
  c.name = std::move(name);
  c.inputs = {{.name = "x", .shape = {N, F}}};
  c.outputs = {{.name = "out", .shape = {N, F}}};
  c.forward = [](Context& ctx, const OpTensors& t) {
    relu_squared_forward(ctx, t.at("x"), t.at("out"));
  };
  c.backward = [](Context& ctx, const OpTensors& t) {
    relu_squared_backward(ctx, t.at("d.out"), t.at("x"), t.at("d.x"), t.at("out"));
  };
  c.flops = static_cast<double>(5 * N * F);
  c.elements = static_cast<double>(6 * N * F);
  return c;
}

std::vector<OpCase> small_cases() {
  return {swiglu_case("swiglu_n5_f21", 5, 21), geglu_case("geglu_n5_f21", 5, 21),
          gelu_case("gelu_n5_f21", 5, 21), relu_squared_case("relu_squared_n5_f21", 5, 21)};
}

std::vector<OpCase> large_cases() {
  return {swiglu_case("swiglu_n256_f1280", 256, 1280), swiglu_case("swiglu_n300_f252", 300, 252),
          geglu_case("geglu_n256_f1280", 256, 1280), gelu_case("gelu_n300_f1280", 300, 1280),
          relu_squared_case("relu_squared_n256_f1280", 256, 1280)};
}

std::vector<OpCase> bench_cases(const BenchShape& s) {
  return {swiglu_case("swiglu", s.N(), s.F), geglu_case("geglu", s.N(), s.F),
          gelu_case("gelu", s.N(), s.F), relu_squared_case("relu_squared", s.N(), s.F)};
}

}  // namespace

OpCaseSet activation_cases() {
  return {.small = small_cases(), .large = large_cases(), .bench = bench_cases};
}

}  // namespace ingot
