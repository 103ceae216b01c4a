// Kernels of ops/attention.h; options.scale is the actual factor, not 0.
#pragma once

#include "ops/attention.h"
#include "ops/common/kernel.h"

namespace ingot {

INGOT_KERNEL(void, attention_forward,
             (Context & ctx, const AttentionTensors& tensors, const AttentionOptions& options))
INGOT_KERNEL(void, attention_backward,
             (Context & ctx, const AttentionTensors& tensors, const AttentionGradients& gradients,
              const AttentionOptions& options))
namespace cpu::avx512_bf16 {  // for BF16 alone
void attention_forward(Context& ctx, const AttentionTensors& tensors,
                       const AttentionOptions& options);
void attention_backward(Context& ctx, const AttentionTensors& tensors,
                        const AttentionGradients& gradients, const AttentionOptions& options);
}  // namespace cpu::avx512_bf16
// False: no fused kernel supports these arguments, and nothing was done.
INGOT_CUDA_KERNEL(bool, attention_rope_backward,
                  (Context & ctx, const AttentionTensors& tensors,
                   const AttentionGradients& gradients, const AttentionOptions& options,
                   const RopeInput& rope))

}  // namespace ingot
