// Moving and clearing bytes, wherever they live.
#pragma once

#include <span>

#include "core/context.h"
#include "core/tensor.h"

namespace ingot {

// All elements of a contiguous tensor become zero.
void zero(Context& ctx, const Tensor& tensor);

// dst (contiguous) ← host memory of exactly its size.
void copy_from_host(Context& ctx, const void* host, const Tensor& dst);

// dst ← src; same shape and dtype, any strides but a contiguous last dim; no overlap.
void copy(Context& ctx, const Tensor& src, const Tensor& dst);

}  // namespace ingot
