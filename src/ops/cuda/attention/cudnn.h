// Attention with cuDNN's fused kernels: BF16 and F16, Tq == Tk. The library is loaded on first use,
// which throws ErrorCode::Missing if the machine does not have it.
#pragma once

#include "core/device/context.h"
#include "core/tensor/tensor.h"
#include "ops/attention.h"

namespace ingot::cuda {

// False: cuDNN does not support this problem (head size, strides, addresses not aligned to 16
// bytes), or its graph requests more workspace than scratch.h reserves; another kernel must then
// write all outputs. The first call with a shape, layout and mask builds a graph, which takes 0.7 s
// and is kept with the context. document_start must be counted (num_documents) and contiguous: each
// document is a sequence of a ragged batch, and the graphs' document counts are rounded to powers
// of two.
bool cudnn_attention_forward(Context& ctx, const AttentionTensors& tensors,
                             const AttentionOptions& options);
bool cudnn_attention_backward(Context& ctx, const AttentionTensors& tensors,
                              const AttentionGradients& gradients, const AttentionOptions& options);

}  // namespace ingot::cuda
