// GPU kernels of ops/memory.h; arguments are checked by the caller. All work goes to the context's
// stream.
#pragma once

#include "core/context.h"
#include "core/tensor.h"

namespace ingot::cuda {

void zero(Context& ctx, const Tensor& tensor);
void fill(Context& ctx, float value, const Tensor& tensor);
void copy_from_host(Context& ctx, const void* host, const Tensor& dst);
void copy_to_host(Context& ctx, const Tensor& src, void* host);
void add(Context& ctx, const Tensor& src, const Tensor& dst);
void copy(Context& ctx, const Tensor& src, const Tensor& dst);

}  // namespace ingot::cuda
