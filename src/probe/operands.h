// Memory for what is timed alone.
#pragma once

#include <vector>

#include "core/device/arena.h"
#include "core/device/context.h"

namespace ingot {

// Owns the tensors it hands out, all on the context's device.
class Operands {
 public:
  explicit Operands(const Context& ctx) : ctx_(ctx) {}

  // Standard normal numbers, F32 or BF16: never time on zeros, which cost a GPU less power and a
  // CPU no memory.
  Tensor random(DType dtype, const Shape& shape);
  Tensor zeros(DType dtype, const Shape& shape);
  // The context with a workspace of its own.
  Context with_workspace(int64_t bytes);

 private:
  Context ctx_;
  std::vector<Arena> arenas_;
};

}  // namespace ingot
