// The addend of a GEMM, for all precisions.
#pragma once

#include "ops/common/checks.h"
#include "ops/common/dispatch.h"
#include "ops/memory.h"

namespace ingot {

// A GPU reads the addend in place: returns its address. On the CPU copies it into c and returns
// null, as for an addend that is undefined or c itself.
inline const void* addend_for(const char* op, Context& ctx, const Tensor& addend, const Tensor& c) {
  if (!addend.defined() || addend.data == c.data) return nullptr;
  check_dtype(op, "addend", addend, c.dtype);
  check_shape(op, "addend", addend, c.shape);
  check(addend.strides == c.strides, ErrorCode::Internal, "{}: addend must lie like {}, got {}", op,
        c, addend);
  if (runs_on_cuda(ctx, c)) return addend.data;
  copy(ctx, addend, c);
  return nullptr;
}

}  // namespace ingot
