#include "ops/update/adamw.h"
#include "ops/memory.h"
#include "probe/op_case.h"
#include "probe/update_rows.h"

namespace ingot {
namespace {

// Updates from given gradients; ten, so that bias correction and the moments' memory both show.
OpCase steps_case(std::string name, int64_t n, int64_t num_steps) {
  OpCase c;
  c.op = "adamw";
  c.name = std::move(name);
  c.inputs = {{.name = "param", .shape = {n}, .differentiable = false, .wide = true},
              {.name = "grads", .shape = {num_steps, n}, .differentiable = false, .wide = true}};
  c.outputs = {{.name = "master", .shape = {n}, .wide = true},
               {.name = "m", .shape = {n}, .wide = true},
               {.name = "v", .shape = {n}, .wide = true},
               {.name = "weight", .shape = {n}}};
  c.forward = [=](Context& ctx, const OpTensors& t) {
    const Tensor& master = t.at("master");
    copy(ctx, t.at("param"), master);
    for (const char* moment : {"m", "v"}) zero(ctx, t.at(moment));
    const Workspace::Scope scope(ctx.workspace);
    const Tensor rows = ctx.workspace.take(DType::U8, {kUpdateRowsBytes});
    for (int64_t step = 1; step <= num_steps; ++step) {
      const AdamWStep settings = adamw_step_at(ctx, rows, {.lr = 1e-2}, {.step = step});
      const Tensor grad = t.at("grads").slice(0, step - 1, step).reshape({n});
      const AdamWTensors tensors{master, grad, t.at("m"), t.at("v"), t.at("weight"), 0.1};
      adamw(ctx, settings, {&tensors, 1});
    }
  };
  c.workspace_bytes = [](const Context&, DType) { return kUpdateRowsBytes; };
  return c;
}

std::vector<OpCase> small_cases() {
  return {steps_case("adamw_10_steps_n37", 37, 10)};
}

std::vector<OpCase> large_cases() {
  return {steps_case("adamw_3_steps_n100000", 100000, 3)};
}

std::vector<OpCase> bench_cases(const BenchShape& s) {
  const int64_t n = s.flat;
  OpCase c;
  c.op = "adamw";
  c.name = "adamw";
  for (const char* name : {"master", "grad", "m", "v"})
    c.inputs.push_back({.name = name,
                        .shape = {n},
                        .fill = OpInput::Fill::Uniform,
                        .differentiable = false,
                        .wide = true});
  // Where the model computes in F32, the master is the weight.
  const bool copies_weight = s.dtype != DType::F32;
  if (copies_weight) c.outputs = {{.name = "weight", .shape = {n}}};
  c.forward = [=](Context& ctx, const OpTensors& t) {
    const Tensor weight = copies_weight ? t.at("weight") : Tensor{};
    const AdamWTensors tensors{t.at("master"), t.at("grad"), t.at("m"), t.at("v"), weight, 0.1};
    const Workspace::Scope scope(ctx.workspace);
    const Tensor rows = ctx.workspace.take(DType::U8, {kUpdateRowsBytes});
    adamw(ctx, adamw_step_at(ctx, rows, {.lr = 1e-4}, {.step = 100}), {&tensors, 1});
  };
  c.workspace_bytes = [](const Context&, DType) { return kUpdateRowsBytes; };
  c.dtypes = {s.dtype};
  c.flops = static_cast<double>(15 * n);
  c.elements = static_cast<double>(copies_weight ? n : 0);
  c.wide_bytes = 4.0 * static_cast<double>(7 * n);
  return {c};
}

}  // namespace

OpCaseSet adamw_cases() {
  return {.small = small_cases(), .large = large_cases(), .bench = bench_cases};
}

}  // namespace ingot
