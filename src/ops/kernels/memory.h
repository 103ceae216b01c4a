// GPU kernels of ops/memory.h. The CPU code is in ops/memory.cpp: copying bytes needs no ISA
// variants.
#pragma once

#include "ops/common/kernel.h"

namespace ingot {

INGOT_CUDA_KERNEL(void, zero, (Context & ctx, const Tensor& tensor))
INGOT_CUDA_KERNEL(void, fill, (Context & ctx, float value, const Tensor& tensor))
INGOT_CUDA_KERNEL(void, copy_from_host, (Context & ctx, const void* host, const Tensor& dst))
INGOT_CUDA_KERNEL(void, copy_to_host, (Context & ctx, const Tensor& src, void* host))
INGOT_CUDA_KERNEL(void, add, (Context & ctx, const Tensor& src, const Tensor& dst))
INGOT_CUDA_KERNEL(void, copy, (Context & ctx, const Tensor& src, const Tensor& dst))

}  // namespace ingot
