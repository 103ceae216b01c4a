// GPU kernels of ops/embedding.h; arguments are checked by the caller. All work goes to the
// context's stream.
#pragma once

#include "core/context.h"
#include "core/tensor.h"

namespace ingot::cuda {

void embedding_forward(Context& ctx, const Tensor& tokens, const Tensor& table, const Tensor& out);
void embedding_backward(Context& ctx, const Tensor& tokens, const Tensor& dout,
                        const Tensor& dtable);
int64_t embedding_backward_workspace_bytes(int64_t num_tokens, int64_t vocab);

}  // namespace ingot::cuda
