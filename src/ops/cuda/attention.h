// GPU kernels of ops/attention.h; arguments are checked by the caller. All work goes to the
// context's stream.
#pragma once

#include "core/context.h"
#include "core/tensor.h"
#include "ops/attention.h"

namespace ingot::cuda {

void attention_forward(Context& ctx, const Tensor& q, const Tensor& k, const Tensor& v,
                       const AttentionOptions& options, const Tensor& out, const Tensor& lse);
void attention_backward(Context& ctx, const Tensor& dout, const Tensor& q, const Tensor& k,
                        const Tensor& v, const Tensor& out, const Tensor& lse,
                        const AttentionOptions& options, const Tensor& dq, const Tensor& dk,
                        const Tensor& dv);
int64_t attention_workspace_bytes(const Context& ctx, DType dtype, int64_t B, int64_t Tq,
                                  int64_t Tk, int64_t H, int64_t G, int64_t D);

}  // namespace ingot::cuda
