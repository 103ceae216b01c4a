// Kernels of ops/adamw.h: a shard at a time on the CPU, all in one launch on a GPU.
#pragma once

#include "ops/adamw.h"
#include "ops/kernel.h"

namespace ingot {

namespace cpu {
INGOT_CPU_KERNEL(void, adamw, (Context & ctx, const AdamWStep& step, const AdamWTensors& tensors))
}
INGOT_CUDA_KERNEL(void, adamw,
                  (Context & ctx, const AdamWStep& step, std::span<const AdamWTensors> tensors))

}  // namespace ingot
