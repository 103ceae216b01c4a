// Moving and clearing bytes, wherever they live.
#pragma once

#include <span>

#include "core/device/context.h"
#include "core/tensor/tensor.h"

namespace ingot {

// All elements of a contiguous tensor become zero.
void zero(Context& ctx, const Tensor& tensor);

// dst (contiguous) ← host memory of exactly its size, which may be reused when this returns.
void copy_from_host(Context& ctx, const void* host, const Tensor& dst);

// Host memory of exactly its size ← src (contiguous); done when this returns.
void copy_to_host(Context& ctx, const Tensor& src, void* host);

// All elements of a contiguous tensor, F32 or on the CPU F64, become `value`.
void fill(Context& ctx, float value, const Tensor& tensor);

// dst(n) += src(n); contiguous, F32 or F64, no overlap.
void add(Context& ctx, const Tensor& src, const Tensor& dst);

// to ← from, one of them in memory of the device, the other in page-locked host memory (on the CPU
// anywhere): as many bytes, both contiguous. On a GPU put on the stream; the host goes on.
void transfer(Context& ctx, const Tensor& from, const Tensor& to);

// dst ← src; same shape and dtype, any strides but a contiguous last dim; no overlap.
void copy(Context& ctx, const Tensor& src, const Tensor& dst);

}  // namespace ingot
