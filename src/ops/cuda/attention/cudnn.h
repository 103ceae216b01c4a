// Attention by cuDNN's fused kernels: BF16 and F16, Tq == Tk. The library is loaded on first use; a
// machine without it gets ErrorCode::Missing then.
#pragma once

#include "core/device/context.h"
#include "core/tensor/tensor.h"
#include "ops/attention.h"

namespace ingot::cuda {

// Of the library that was loaded, 91900 for 9.19.0. Needs no GPU.
int64_t cudnn_version();

// False: cuDNN refuses this problem (head size, strides, addresses that are no multiples of 16
// bytes) or its graph asks for more workspace than scratch.h reserves, and another kernel
// has to write all the outputs. The first call with a shape, layout and
// mask builds a graph, 0.7 s; it is kept with the context. document_start must be counted
// (num_documents) and contiguous: each document is then a sequence of a ragged batch, and graphs
// depend on the counts only by powers of two.
bool cudnn_attention_forward(Context& ctx, const AttentionTensors& tensors,
                             const AttentionOptions& options);
bool cudnn_attention_backward(Context& ctx, const AttentionTensors& tensors,
                              const AttentionGradients& gradients, const AttentionOptions& options);

}  // namespace ingot::cuda
