// What a product is added to, for products of any precision.
#pragma once

#include "ops/common/checks.h"
#include "ops/common/dispatch.h"
#include "ops/memory.h"

namespace ingot {

// `addend`, if defined, as a product that adds to c takes it: a GPU's reads it where it is, the
// CPU's finds it in c.
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
