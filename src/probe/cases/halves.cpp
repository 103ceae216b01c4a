#include "ops/halves.h"

#include <bit>

#include "probe/op_case.h"

namespace ingot {
namespace {

// Split and joined again.
OpCase halves_case(std::string name, int64_t n) {
  OpCase c;
  c.op = "halves";
  c.name = std::move(name);
  c.inputs = {{.name = "exact", .shape = {n}, .type = DType::F32}};
  c.outputs = {{.name = "high", .shape = {n}, .type = DType::BF16},
               {.name = "low", .shape = {n}, .type = DType::U16},
               {.name = "joined", .shape = {n}, .type = DType::F32}};
  c.forward = [](Context& ctx, const OpTensors& t) {
    split_halves(ctx, t.at("exact"), t.at("high"), t.at("low"));
    join_halves(ctx, t.at("high"), t.at("low"), t.at("joined"));
  };
  c.reference = [](const OpValues& in) {
    OpValues out{{"joined", in.at("exact")}};
    for (const double value : in.at("exact")) {
      const auto bits = std::bit_cast<uint32_t>(static_cast<float>(value));
      const uint32_t high = (bits + 0x8000) >> 16;  // a tie goes away from zero
      out["high"].push_back(std::bit_cast<float>(high << 16));
      out["low"].push_back((bits - (high << 16)) & 0xffff);
    }
    return out;
  };
  c.dtypes = c.cuda_dtypes = {DType::F32};
  c.wide_bytes = 2.0 * (4 + 2 + 2) * static_cast<double>(n);
  return c;
}

std::vector<OpCase> bench_cases(const BenchShape& s) {
  return {halves_case("halves", s.flat)};
}

}  // namespace

OpCaseSet halves_cases() {
  return {.small = {halves_case("halves_n101", 101)},
          .large = {halves_case("halves_n100000", 100'000)},
          .bench = bench_cases};
}

}  // namespace ingot
