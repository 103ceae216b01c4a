// Our own attention kernels, for what cuDNN does not take: every float type, D up to 256, any
// strides, every mask of ops/attention.h and its soft cap. They use no tensor cores.
#pragma once

#include "core/device/context.h"
#include "core/tensor/tensor.h"
#include "ops/attention.h"

namespace ingot::cuda {

// Arguments as in ops/attention.h, already checked, with the scale filled in. Both directions sum
// in a fixed order: equal inputs give equal bits. `shared_bytes` is the shared memory that a block
// may take: where whole tiles do not fit (up to 171 KB, by D and direction; F64 203), they have
// half the rows, and other last bits. 99 KB are enough but for F64, which only tests compute in.
void fallback_attention_forward(Context& ctx, const AttentionTensors& tensors,
                                const AttentionOptions& options, int64_t shared_bytes);
void fallback_attention_backward(Context& ctx, const AttentionTensors& tensors,
                                 const AttentionGradients& gradients,
                                 const AttentionOptions& options, int64_t shared_bytes);

}  // namespace ingot::cuda
