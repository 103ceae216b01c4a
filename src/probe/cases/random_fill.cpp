#include "ops/random_fill.h"

#include "probe/op_case.h"

namespace ingot {
namespace {

OpCase normal_case(std::string name, int64_t n) {
  constexpr float kScale = 0.5f;
  constexpr uint64_t kFirst = 5;  // within a block of four
  const RandomStream stream(/*seed=*/7, Purpose::Test, /*tensor=*/3);
  OpCase c;
  c.op = "fill_normal";
  c.name = std::move(name);
  c.outputs = {{.name = "out", .shape = {n}, .type = DType::F32}};
  c.forward = [=](Context& ctx, const OpTensors& t) {
    fill_normal(ctx, stream, kFirst, kScale, t.at("out"));
  };
  c.reference = [=](const OpValues&) {
    OpValues out;
    for (int64_t i = 0; i < n; ++i)
      out["out"].push_back(kScale * stream.normal(kFirst + static_cast<uint64_t>(i)));
    return out;
  };
  c.dtypes = c.cuda_dtypes = {DType::F32};
  c.wide_bytes = 4.0 * static_cast<double>(n);
  return c;
}

std::vector<OpCase> bench_cases(const BenchShape& s) {
  return {normal_case("fill_normal", s.flat)};
}

}  // namespace

OpCaseSet random_fill_cases() {
  return {.small = {normal_case("fill_normal_n101", 101)},
          .large = {normal_case("fill_normal_n100000", 100'000)},
          .bench = bench_cases};
}

}  // namespace ingot
