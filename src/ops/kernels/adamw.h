// Kernels of ops/update/adamw.h: one shard per call on the CPU, all shards in one launch on a GPU.
#pragma once

#include "ops/common/kernel.h"
#include "ops/update/adamw.h"

namespace ingot {

namespace cpu {
INGOT_CPU_KERNEL(void, adamw, (Context & ctx, const AdamWStep& step, const AdamWTensors& tensors))
}
INGOT_CUDA_KERNEL(void, adamw,
                  (Context & ctx, const AdamWStep& step, std::span<const AdamWTensors> tensors))

}  // namespace ingot
