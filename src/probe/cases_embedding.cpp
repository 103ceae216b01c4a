#include "ops/embedding.h"
#include "probe/cases.h"

namespace ingot {
namespace {

OpCase embedding_case(std::string name, int64_t N, int64_t V, int64_t C) {
  OpCase c;
  c.op = "embedding";
  c.name = std::move(name);
  c.inputs = {{.name = "tokens",
               .shape = {N},
               .fill = OpInput::Fill::Tokens,
               .scale = static_cast<double>(V),
               .integer = true},
              {.name = "table", .shape = {V, C}, .wide_gradient = true}};
  c.outputs = {{.name = "out", .shape = {N, C}}};
  c.forward = [](Context& ctx, const OpTensors& t) {
    embedding_forward(ctx, t.at("tokens"), t.at("table"), t.at("out"));
  };
  c.backward = [](Context& ctx, const OpTensors& t) {
    embedding_backward(ctx, t.at("tokens"), t.at("d.out"), t.at("d.table"));
  };
  c.workspace_bytes = [=](DType, int) { return embedding_backward_workspace_bytes(N, V); };
  // Forward copies rows; backward reads rows and adds them to the table's.
  c.flops = static_cast<double>(N * C);
  c.bytes = 4.0 * static_cast<double>(5 * N * C);
  return c;
}

}  // namespace

std::vector<OpCase> embedding_cases() {
  return {embedding_case("embedding_n13_v7_c20", 13, 7, 20)};
}

std::vector<OpCase> embedding_bench_cases() {
  using S = BenchShape;
  return {embedding_case("embedding", S::N, S::V, S::C)};
}

}  // namespace ingot
