#include "ops/update/muon.h"
#include "ops/memory.h"
#include "probe/op_case.h"
#include "probe/update_rows.h"

namespace ingot {
namespace {

// A step's passes without the GEMMs between them: momentum, norm and update.
void passes(Context& ctx, const Tensor& grad, const Tensor& m, const Tensor& u,
            const Tensor& master) {
  const Workspace::Scope scope(ctx.workspace);
  const Tensor squares = ctx.workspace.take(m.dtype, {muon_num_partials(m.numel())});
  const Tensor rows = ctx.workspace.take(DType::U8, {kUpdateRowsBytes});
  const UpdateScalars scalars = update_scalars_at(ctx, rows, {.grad_scale = 0.5});
  muon_momentum(ctx, /*beta=*/0.9, scalars, grad, m, u, squares);
  muon_normalize(ctx, squares, /*margin=*/1.01, u);
  muon_apply(ctx, /*keep=*/0.75, /*rate=*/2.0, scalars, u, master);
}

int64_t passes_workspace_bytes(int64_t n) {
  return align_up(muon_num_partials(n) * size_of(DType::F64)) + kUpdateRowsBytes;
}

OpCase passes_case(std::string name, int64_t n) {
  OpCase c;
  c.op = "muon";
  c.name = std::move(name);
  for (const char* input : {"param", "momentum", "grad"})
    c.inputs.push_back({.name = input, .shape = {n}, .differentiable = false, .wide = true});
  c.outputs = {{.name = "master", .shape = {n}, .wide = true},
               {.name = "m", .shape = {n}, .wide = true},
               {.name = "u", .shape = {n}}};
  c.forward = [=](Context& ctx, const OpTensors& t) {
    copy(ctx, t.at("param"), t.at("master"));
    copy(ctx, t.at("momentum"), t.at("m"));
    passes(ctx, t.at("grad"), t.at("m"), t.at("u"), t.at("master"));
  };
  c.workspace_bytes = [=](const Context&, DType) { return passes_workspace_bytes(n); };
  return c;
}

OpCase squares_case(std::string name, int64_t n) {
  OpCase c;
  c.op = "muon_squares";
  c.name = std::move(name);
  c.inputs = {{.name = "u", .shape = {n}, .differentiable = false}};
  c.outputs = {{.name = "squares", .shape = {muon_num_partials(n)}, .wide = true}};
  c.forward = [](Context& ctx, const OpTensors& t) {
    muon_squares(ctx, t.at("u"), t.at("squares"));
  };
  c.reference = [](const OpValues& in) {
    const std::vector<double>& u = in.at("u");
    const auto each = static_cast<size_t>(muon_partial_elements(static_cast<int64_t>(u.size())));
    OpValues out;
    for (size_t i = 0; i < u.size(); ++i) {
      if (i % each == 0) out["squares"].push_back(0.0);
      out["squares"].back() += u[i] * u[i];
    }
    return out;
  };
  c.flops = static_cast<double>(2 * n);
  c.elements = static_cast<double>(n);
  return c;
}

OpCase polynomial_case(std::string name, int64_t S) {
  OpCase c;
  c.op = "muon_polynomial";
  c.name = std::move(name);
  for (const char* input : {"gram", "square"})
    c.inputs.push_back({.name = input, .shape = {S, S}, .differentiable = false});
  c.outputs = {{.name = "out", .shape = {S, S}}};
  c.forward = [](Context& ctx, const OpTensors& t) {
    muon_polynomial(ctx, {3.5, -2.5, 0.5}, t.at("gram"), t.at("square"), t.at("out"));
  };
  c.flops = static_cast<double>(3 * S * S);
  c.elements = static_cast<double>(3 * S * S);
  return c;
}

std::vector<OpCase> small_cases() {
  return {passes_case("muon_n37", 37), squares_case("muon_squares_n37", 37),
          polynomial_case("muon_polynomial_s9", 9)};
}

std::vector<OpCase> large_cases() {
  return {passes_case("muon_n100000", 100'000), passes_case("muon_n4300000", 4'300'000),
          squares_case("muon_squares_n100000", 100'000),
          polynomial_case("muon_polynomial_s192", 192)};
}

std::vector<OpCase> bench_cases(const BenchShape& s) {
  const int64_t n = s.flat;
  OpCase c;
  c.op = "muon";
  c.name = "muon";
  for (const char* name : {"master", "grad", "m"})
    c.inputs.push_back({.name = name,
                        .shape = {n},
                        .fill = OpInput::Fill::Uniform,
                        .differentiable = false,
                        .wide = true});
  c.outputs = {{.name = "u", .shape = {n}}};
  c.forward = [](Context& ctx, const OpTensors& t) {
    passes(ctx, t.at("grad"), t.at("m"), t.at("u"), t.at("master"));
  };
  c.workspace_bytes = [=](const Context&, DType) { return passes_workspace_bytes(n); };
  c.dtypes = {s.dtype};
  c.flops = static_cast<double>(12 * n);
  c.elements = static_cast<double>(4 * n);  // u is written and read twice
  c.wide_bytes = 4.0 * static_cast<double>(5 * n);
  OpCase squares = squares_case("muon_squares", n);
  squares.dtypes = {s.dtype};
  return {c, squares, polynomial_case("muon_polynomial", s.C)};
}

}  // namespace

OpCaseSet muon_cases() {
  return {.small = small_cases(), .large = large_cases(), .bench = bench_cases};
}

}  // namespace ingot
