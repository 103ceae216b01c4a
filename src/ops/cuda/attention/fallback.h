// Our own attention kernels, for calls that cuDNN does not support: every float type, D up to 256,
// any strides, every mask of ops/attention.h and its soft cap. They use no tensor cores.
#pragma once

#include "core/device/context.h"
#include "core/tensor/tensor.h"
#include "ops/attention.h"

namespace ingot::cuda {

// Arguments as in ops/attention.h, already checked, with the scale filled in. Both directions sum
// in a fixed order: equal inputs give equal bits. `shared_bytes` is the shared memory available to
// a block. If whole tiles do not fit (up to 171 KB, depending on D and direction; F64 203), tiles
// have half the rows and the last bits differ. 99 KB suffice except for F64, which only tests use.
void fallback_attention_forward(Context& ctx, const AttentionTensors& tensors,
                                const AttentionOptions& options, int64_t shared_bytes);
void fallback_attention_backward(Context& ctx, const AttentionTensors& tensors,
                                 const AttentionGradients& gradients,
                                 const AttentionOptions& options, int64_t shared_bytes);

}  // namespace ingot::cuda
