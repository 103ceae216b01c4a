// Kernels of ops/top_logits.h, for a GPU alone.
#pragma once

#include "ops/common/kernel.h"

namespace ingot {

INGOT_CUDA_KERNEL(void, top_logits,
                  (Context & ctx, const Tensor& logits, int64_t below, double softcap,
                   const Tensor& top))

namespace cuda {

// A block reads these many entries and keeps kTopLogits of them.
inline constexpr int64_t kTopChunk = 4096;

}  // namespace cuda
}  // namespace ingot
