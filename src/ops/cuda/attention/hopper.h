// Attention's backward pass on Hopper: bf16, causal, heads of 64, whole rows of a multiple of 128
// tokens, no soft cap. All work goes to the context's stream.
#pragma once

#include "core/device/context.h"
#include "core/tensor/tensor.h"
#include "ops/attention.h"
#include "ops/rope.h"

namespace ingot::cuda {

// Arguments as for attention_rope_backward(); a rope without tables gives the dq and dk of
// attention_backward(). False: this GPU or these arguments are not supported, and nothing was done.
// Unless the context is deterministic, the order of dq's sums varies.
bool hopper_attention_backward(Context& ctx, const AttentionTensors& tensors,
                               const AttentionGradients& gradients, const AttentionOptions& options,
                               const RopeInput& rope);

}  // namespace ingot::cuda
