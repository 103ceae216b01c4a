#include <algorithm>

#include "ops/embedding.h"
#include "probe/op_case.h"

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
               .type = DType::I32},
              {.name = "table", .shape = {V, C}, .wide_gradient = true}};
  c.outputs = {{.name = "out", .shape = {N, C}}};
  c.forward = [](Context& ctx, const OpTensors& t) {
    embedding_forward(ctx, t.at("tokens"), t.at("table"), t.at("out"));
  };
  c.backward = [](Context& ctx, const OpTensors& t) {
    embedding_backward(ctx, t.at("tokens"), t.at("d.out"), t.at("d.table"));
  };
  c.workspace_bytes = [=](const Context& ctx, DType) {
    return embedding_backward_workspace_bytes(ctx.facts, N);
  };
  // Forward copies rows; backward reads rows and adds them to those of the table's gradient.
  c.flops = static_cast<double>(N * C);
  c.elements = static_cast<double>(3 * N * C);
  c.wide_bytes = 4.0 * static_cast<double>(2 * std::min(N, V) * C);
  return c;
}

// A second table's rows are added to the first one's.
OpCase added_case(std::string name, int64_t N, int64_t V, int64_t C) {
  OpCase c = embedding_case(std::move(name), N, V, C);
  c.op = "embedding_add";
  c.inputs.push_back({.name = "places",
                      .shape = {N},
                      .fill = OpInput::Fill::Tokens,
                      .scale = static_cast<double>(V),
                      .type = DType::I32});
  c.inputs.push_back({.name = "positions", .shape = {V, C}, .wide_gradient = true});
  c.forward = [](Context& ctx, const OpTensors& t) {
    embedding_forward(ctx, t.at("tokens"), t.at("table"), t.at("out"));
    embedding_add(ctx, t.at("places"), t.at("positions"), t.at("out"));
  };
  c.backward = [](Context& ctx, const OpTensors& t) {
    embedding_backward(ctx, t.at("tokens"), t.at("d.out"), t.at("d.table"));
    embedding_backward(ctx, t.at("places"), t.at("d.out"), t.at("d.positions"));
  };
  return c;
}

std::vector<OpCase> small_cases() {
  return {embedding_case("embedding_n13_v7_c20", 13, 7, 20),
          added_case("embedding_add_n9_v5_c13", 9, 5, 13)};
}

std::vector<OpCase> large_cases() {
  // Few ids, so that each is met often, and many, most of them never met.
  return {embedding_case("embedding_n1024_v50_c256", 1024, 50, 256),
          embedding_case("embedding_n512_v1000_c1280", 512, 1000, 1280),
          added_case("embedding_add_n512_v128_c768", 512, 128, 768)};
}

std::vector<OpCase> bench_cases(const BenchShape& s) {
  return {embedding_case("embedding", s.N(), s.V, s.C)};
}

}  // namespace

OpCaseSet embedding_cases() {
  return {.small = small_cases(), .large = large_cases(), .bench = bench_cases};
}

}  // namespace ingot
