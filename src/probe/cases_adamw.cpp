#include <cstring>

#include "ops/adamw.h"
#include "probe/cases.h"

namespace ingot {
namespace {

// Ten updates from given gradients, so that bias correction and the moments' memory both show.
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
    std::memcpy(master.data, t.at("param").data, static_cast<size_t>(master.bytes()));
    for (const char* moment : {"m", "v"})
      std::memset(t.at(moment).data, 0, static_cast<size_t>(master.bytes()));
    for (int64_t step = 1; step <= num_steps; ++step) {
      const AdamWStep settings = {.lr = 1e-2,
                                  .beta1 = 0.9,
                                  .beta2 = 0.95,
                                  .eps = 1e-8,
                                  .weight_decay = 0.1,
                                  .step = step,
                                  .grad_scale = 1.0};
      const Tensor grad = t.at("grads").slice(0, step - 1, step).reshape({n});
      adamw(ctx, settings, master, grad, t.at("m"), t.at("v"), t.at("weight"));
    }
  };
  return c;
}

}  // namespace

std::vector<OpCase> adamw_cases() {
  return {steps_case("adamw_10_steps_n37", 37, 10)};
}

std::vector<OpCase> adamw_bench_cases() {
  constexpr int64_t n = int64_t{4} << 20;
  OpCase c;
  c.op = "adamw";
  c.name = "adamw";
  for (const char* name : {"master", "grad", "m", "v"})
    c.inputs.push_back(
        {.name = name, .shape = {n}, .fill = OpInput::Fill::Uniform, .differentiable = false});
  c.forward = [](Context& ctx, const OpTensors& t) {
    adamw(ctx, {.lr = 1e-4, .weight_decay = 0.1, .step = 100}, t.at("master"), t.at("grad"),
          t.at("m"), t.at("v"), {});
  };
  c.dtypes = {DType::F32};
  c.flops = static_cast<double>(15 * n);
  c.bytes = 4.0 * static_cast<double>(7 * n);
  return {c};
}

}  // namespace ingot
