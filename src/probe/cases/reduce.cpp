#include "ops/reduce.h"
#include "probe/op_case.h"
#include "probe/values.h"

namespace ingot {
namespace {

OpCase sums_case(std::string name, int64_t n) {
  OpCase c;
  c.op = "sum";
  c.name = std::move(name);
  c.inputs = {{.name = "x", .shape = {n}, .differentiable = false}};
  c.outputs = {{.name = "sums", .shape = {2}, .wide = true}};  // Σ x, Σ x²
  c.forward = [](Context& ctx, const OpTensors& t) {
    const Tensor& x = t.at("x");
    const Workspace::Scope scope(ctx.workspace);
    const Tensor squares = ctx.workspace.take(DType::F64, {1});
    sum_of_squares(ctx, {&x, 1}, squares);
    const double values[] = {sum(ctx, x), read_values(ctx, squares)[0]};
    write_values(ctx, t.at("sums"), values);
  };
  c.workspace_bytes = [](const Context&, DType) { return align_up(size_of(DType::F64)); };
  c.flops = static_cast<double>(3 * n);
  c.elements = static_cast<double>(2 * n);
  return c;
}

// x to each narrow type and back: what is left is the rounding.
OpCase cast_case(std::string name, int64_t n) {
  OpCase c;
  c.op = "cast";
  c.name = std::move(name);
  c.inputs = {{.name = "x", .shape = {n}, .scale = 3.0, .differentiable = false}};
  constexpr DType kNarrow[] = {DType::F32, DType::BF16, DType::F16, DType::F8E4M3, DType::F8E5M2};
  for (DType narrow : kNarrow)
    c.outputs.push_back({.name = std::string(name_of(narrow)), .shape = {n}});
  c.forward = [=](Context& ctx, const OpTensors& t) {
    for (DType narrow : kNarrow) {
      Workspace::Scope scope(ctx.workspace);
      const Tensor between = ctx.workspace.take(narrow, {n});
      cast(ctx, t.at("x"), between);
      cast(ctx, between, t.at(std::string(name_of(narrow))));
    }
  };
  c.workspace_bytes = [=](const Context&, DType) { return align_up(n * size_of(DType::F32)); };
  return c;
}

std::vector<OpCase> small_cases() {
  return {sums_case("sum_n101", 101), cast_case("cast_n77", 77)};
}

std::vector<OpCase> large_cases() {
  return {sums_case("sum_n300000", 300000), cast_case("cast_n100000", 100000)};
}

std::vector<OpCase> bench_cases(const BenchShape& s) {
  const int64_t n = s.flat;
  OpCase narrow;
  narrow.op = "cast";
  narrow.name = "cast_f32_bf16";
  narrow.inputs = {{.name = "x", .shape = {n}, .differentiable = false, .wide = true}};
  narrow.forward = [=](Context& ctx, const OpTensors& t) {
    Workspace::Scope scope(ctx.workspace);
    cast(ctx, t.at("x"), ctx.workspace.take(DType::BF16, {n}));
  };
  narrow.workspace_bytes = [=](const Context&, DType) {
    return align_up(n * size_of(DType::BF16));
  };
  narrow.wide_bytes = 6.0 * static_cast<double>(n);
  return {sums_case("sum", n), narrow};
}

}  // namespace

OpCaseSet reduce_cases() {
  return {.small = small_cases(), .large = large_cases(), .bench = bench_cases};
}

}  // namespace ingot
