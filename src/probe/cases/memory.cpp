#include "ops/memory.h"

#include "probe/op_case.h"

namespace ingot {
namespace {

// y(N, C) is some columns of wider rows.
OpCase copy_case(std::string name, int64_t N, int64_t C) {
  constexpr int64_t kBefore = 2, kMore = 3;
  OpCase c;
  c.op = "copy";
  c.name = std::move(name);
  c.inputs = {{.name = "x", .shape = {N, C + kMore}, .differentiable = false}};
  c.outputs = {{.name = "y", .shape = {N, C}}};
  c.forward = [=](Context& ctx, const OpTensors& t) {
    copy(ctx, t.at("x").slice(1, kBefore, kBefore + C), t.at("y"));
  };
  c.reference = [=](const OpValues& in) {
    OpValues out;
    for (int64_t i = 0; i < N * C; ++i)
      out["y"].push_back(in.at("x")[static_cast<size_t>(i / C * (C + kMore) + kBefore + i % C)]);
    return out;
  };
  return c;
}

OpCase zero_case(std::string name, int64_t n) {
  OpCase c;
  c.op = "zero";
  c.name = std::move(name);
  c.outputs = {{.name = "y", .shape = {n}}};
  c.forward = [](Context& ctx, const OpTensors& t) { zero(ctx, t.at("y")); };
  c.reference = [=](const OpValues&) {
    return OpValues{{"y", std::vector<double>(static_cast<size_t>(n))}};
  };
  return c;
}

OpCase fill_case(std::string name, int64_t n) {
  OpCase c;
  c.op = "fill";
  c.name = std::move(name);
  c.outputs = {{.name = "y", .shape = {n}, .type = DType::F32}};
  c.forward = [](Context& ctx, const OpTensors& t) { fill(ctx, 1.25f, t.at("y")); };
  c.reference = [=](const OpValues&) {
    return OpValues{{"y", std::vector<double>(static_cast<size_t>(n), 1.25)}};
  };
  c.dtypes = c.cuda_dtypes = {DType::F32};
  return c;
}

}  // namespace

OpCaseSet memory_cases() {
  return {.small = {copy_case("copy_n5_c7", 5, 7), zero_case("zero_n37", 37),
                    fill_case("fill_n37", 37)},
          .large = {copy_case("copy_n300_c1280", 300, 1280), zero_case("zero_n100000", 100'000),
                    fill_case("fill_n100000", 100'000)}};
}

}  // namespace ingot
