#include "probe/operands.h"

#include <algorithm>

#include "core/random/random.h"
#include "ops/random_fill.h"
#include "ops/reduce.h"

namespace ingot {

Tensor Operands::random(DType dtype, const Shape& shape) {
  const RandomStream stream(1, Purpose::Test, static_cast<uint32_t>(arenas_.size()));
  const Tensor tensor = zeros(dtype, shape);
  if (dtype == DType::F32) {
    fill_normal(ctx_, stream, 0, 1.0f, tensor);
    return tensor;
  }
  // Drawn in F32 piece by piece, so that a wide copy of the whole never exists.
  constexpr int64_t kPiece = int64_t{16} << 20;
  const int64_t n = tensor.numel();
  const Tensor wide = zeros(DType::F32, {std::min(n, kPiece)});
  const Tensor flat = tensor.reshape({n});
  for (int64_t first = 0; first < n; first += kPiece) {
    const int64_t end = std::min(n, first + kPiece);
    const Tensor piece = wide.slice(0, 0, end - first);
    fill_normal(ctx_, stream, static_cast<uint64_t>(first), 1.0f, piece);
    cast(ctx_, piece, flat.slice(0, first, end));
  }
  return tensor;
}

Tensor Operands::zeros(DType dtype, const Shape& shape) {
  const int64_t bytes = shape.numel() * size_of(dtype);
  return arenas_.emplace_back(ctx_.device, bytes).place(0, dtype, shape);
}

Context Operands::with_workspace(int64_t bytes) {
  Context ctx = ctx_;
  ctx.workspace = Workspace(zeros(DType::U8, {bytes}));
  return ctx;
}

}  // namespace ingot
