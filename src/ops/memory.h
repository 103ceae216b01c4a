// Moves and clears bytes on any device.
#pragma once

#include <span>

#include "core/device/context.h"
#include "core/tensor/tensor.h"

namespace ingot {

// Sets all elements of a contiguous tensor to zero.
void zero(Context& ctx, const Tensor& tensor);

// dst (contiguous) ← host memory of the same size, which may be reused after the call returns.
void copy_from_host(Context& ctx, const void* host, const Tensor& dst);

// Host memory of the same size ← src (contiguous); complete when the call returns.
void copy_to_host(Context& ctx, const Tensor& src, void* host);

// Sets all elements of a contiguous tensor, F32 or on the CPU F64, to `value`.
void fill(Context& ctx, float value, const Tensor& tensor);

// dst(n) += src(n); contiguous, F32 or F64, no overlap.
void add(Context& ctx, const Tensor& src, const Tensor& dst);

// to ← from. One is in device memory, the other in page-locked host memory (on the CPU anywhere);
// same number of bytes, both contiguous. On a GPU the copy is asynchronous, in stream order.
void transfer(Context& ctx, const Tensor& from, const Tensor& to);

// dst ← src; same shape and dtype, any strides but a contiguous last dim; no overlap.
void copy(Context& ctx, const Tensor& src, const Tensor& dst);

}  // namespace ingot
