// GPU kernels of ops/attention.h; arguments are checked by the caller. All work goes to the
// context's stream.
#pragma once

#include <span>

#include "core/context.h"
#include "core/tensor.h"
#include "ops/attention.h"
#include "ops/rope.h"

namespace ingot::cuda {

void attention_forward(Context& ctx, const Tensor& q, const Tensor& k, const Tensor& v,
                       const AttentionOptions& options, const Tensor& out, const Tensor& lse);
void attention_backward(Context& ctx, const Tensor& dout, const Tensor& q, const Tensor& k,
                        const Tensor& v, const Tensor& out, const Tensor& lse,
                        const AttentionOptions& options, const Tensor& dq, const Tensor& dk,
                        const Tensor& dv);
// False: no kernel does both for these arguments, and nothing was done.
bool attention_rope_backward(Context& ctx, const Tensor& dout, const Tensor& q, const Tensor& k,
                             const Tensor& v, const Tensor& out, const Tensor& lse,
                             const AttentionOptions& options, const RopeInput& rope,
                             const Tensor& dq, const Tensor& dk, const Tensor& dv);

// Elements of a tensor from one row of the batch to the next, and from one token to the next.
struct TokenStrides {
  int64_t row, token;
};

// Lists the documents of document_start(B, T) I32, contiguous, in the order of their tokens, for
// calls that take `per_call` each: lengths(calls, ≥ per_call) I32 are their tokens,
// offsets(tensors, calls, ≥ per_call + 1) I64 the elements at which they begin in each tensor, and
// behind a call's last the next one's. Behind the last of all, lengths are 0 and offsets those of
// the batch's end; documents beyond the last call are left out. The host waits for nothing.
void list_documents(Context& ctx, const Tensor& document_start,
                    std::span<const TokenStrides> tensors, int64_t per_call, const Tensor& lengths,
                    const Tensor& offsets);

}  // namespace ingot::cuda
