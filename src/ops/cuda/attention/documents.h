// The documents of a batch as cuDNN takes them.
#pragma once

#include <span>

#include "core/device/context.h"
#include "core/tensor/tensor.h"

namespace ingot::cuda {

// Elements of a tensor from one row of the batch to the next, and from one token to the next.
struct TokenStrides {
  int64_t row, token;
};

// Lists the documents of document_start(B, T) I32, contiguous, in the order of their tokens, for
// calls that take `per_call` each: lengths(calls, ≥ per_call) I32 are their tokens,
// offsets(tensors, calls, ≥ per_call + 1) I64 the elements at which they begin in each tensor, and
// behind a call's last the next one's. Behind the last of all, lengths are 0 and offsets those of
// the batch's end; documents beyond the last call are left out. At most kMaxListedTensors. The host
// waits for nothing.
void list_documents(Context& ctx, const Tensor& document_start,
                    std::span<const TokenStrides> tensors, int64_t per_call, const Tensor& lengths,
                    const Tensor& offsets);

}  // namespace ingot::cuda
