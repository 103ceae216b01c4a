#include "ops/axpy.h"

#include "probe/op_case.h"

namespace ingot {
namespace {

constexpr double kFactor = 1.75;

OpCase axpy_case(std::string name, int64_t N, int64_t C) {
  OpCase c;
  c.op = "axpy";
  c.name = std::move(name);
  c.inputs = {{.name = "x", .shape = {N, C}}, {.name = "y", .shape = {N, C}}};
  c.outputs = {{.name = "out", .shape = {N, C}}};
  c.forward = [](Context& ctx, const OpTensors& t) {
    axpy(ctx, kFactor, t.at("x"), t.at("y"), t.at("out"));
  };
  c.backward = [](Context& ctx, const OpTensors& t) {
    axpy(ctx, kFactor, t.at("d.out"), {}, t.at("d.x"));
    axpy(ctx, 1.0, t.at("d.out"), {}, t.at("d.y"));
  };
  c.flops = static_cast<double>(4 * N * C);
  c.elements = static_cast<double>(7 * N * C);
  return c;
}

std::vector<OpCase> bench_cases(const BenchShape& s) {
  return {axpy_case("axpy", s.N(), s.C)};
}

}  // namespace

OpCaseSet axpy_cases() {
  return {.small = {axpy_case("axpy_n5_c21", 5, 21)},
          .large = {axpy_case("axpy_n300_c1280", 300, 1280)},
          .bench = bench_cases};
}

}  // namespace ingot
