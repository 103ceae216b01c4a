// What the cases of both norms have in common.
#pragma once

#include <functional>
#include <string>
#include <utility>

#include "ops/memory.h"
#include "probe/op_case.h"

namespace ingot {

// A norm of x(N, C) to y(N, C) with rstd(N); its passes and its weights are the caller's.
inline OpCase norm_of_rows(std::string op, std::string name, int64_t N, int64_t C) {
  OpCase c;
  c.op = std::move(op);
  c.name = std::move(name);
  c.inputs = {{.name = "x", .shape = {N, C}},
              {.name = "weight", .shape = {C}, .wide_gradient = true}};
  c.outputs = {{.name = "y", .shape = {N, C}},
               {.name = "rstd", .shape = {N}, .differentiable = false, .wide = true}};
  c.elements = static_cast<double>(5 * N * C);
  return c;
}

// The same where x bypasses its norm, as in the residual stream: `backward` adds to d.x, which
// holds the gradient of that path.
inline OpCase with_residual(OpCase c, std::function<void(Context&, const OpTensors&)> backward) {
  c.outputs.push_back({.name = "stream", .shape = c.inputs[0].shape});
  c.forward = [norm = c.forward](Context& ctx, const OpTensors& t) {
    norm(ctx, t);
    copy(ctx, t.at("x"), t.at("stream"));
  };
  c.backward = [backward = std::move(backward)](Context& ctx, const OpTensors& t) {
    copy(ctx, t.at("d.stream"), t.at("d.x"));
    backward(ctx, t);
  };
  return c;
}

}  // namespace ingot
