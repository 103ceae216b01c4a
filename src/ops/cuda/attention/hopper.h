// Attention's backward pass on Hopper: bf16, causal, heads of 64, whole rows of a multiple of 128
// tokens, no soft cap. All work goes to the context's stream.
#pragma once

#include "core/device/context.h"
#include "core/tensor/tensor.h"
#include "ops/attention.h"
#include "ops/rope.h"

namespace ingot::cuda {

// Arguments as attention_rope_backward() takes them; a rope without tables leaves dq and dk as
// attention_backward() has them. False: this GPU or these arguments are not for it, and nothing was
// done. Unless the context is deterministic, dq is summed in an order that changes.
bool hopper_attention_backward(Context& ctx, const AttentionTensors& tensors,
                               const AttentionGradients& gradients, const AttentionOptions& options,
                               const RopeInput& rope);

}  // namespace ingot::cuda
