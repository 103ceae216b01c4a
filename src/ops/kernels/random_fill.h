// Kernels of ops/random_fill.h: one thread's part on the CPU, the whole tensor on a GPU.
#pragma once

#include "core/random/random.h"
#include "ops/common/kernel.h"

namespace ingot {

namespace cpu {
INGOT_CPU_KERNEL(void, fill_normal,
                 (const RandomStream& stream, uint64_t first_index, float scale, float* out,
                  int64_t n))
}
INGOT_CUDA_KERNEL(void, fill_normal,
                  (Context & ctx, const RandomStream& stream, uint64_t first_index, float scale,
                   const Tensor& out))

}  // namespace ingot
