// Tensors for timing single ops.
#pragma once

#include <vector>

#include "core/device/arena.h"
#include "core/device/context.h"

namespace ingot {

// Owns the tensors it hands out, all on the context's device.
class Operands {
 public:
  explicit Operands(const Context& ctx) : ctx_(ctx) {}

  // Standard normal numbers, F32 or BF16. Do not time zeros: they reduce a GPU's power, and a CPU's
  // zero pages need no memory.
  Tensor random(DType dtype, const Shape& shape);
  Tensor zeros(DType dtype, const Shape& shape);
  // The context with its own workspace.
  Context with_workspace(int64_t bytes);

 private:
  Context ctx_;
  std::vector<Arena> arenas_;
};

}  // namespace ingot
