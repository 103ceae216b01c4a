// The documents of a batch in cuDNN's ragged format.
#pragma once

#include <span>

#include "core/device/context.h"
#include "core/tensor/tensor.h"

namespace ingot::cuda {

// Elements between rows of the batch, and between tokens.
struct TokenStrides {
  int64_t row, token;
};

// Lists the documents of document_start(B, T) I32, contiguous, in token order, for calls with
// `per_call` documents each. lengths(calls, ≥ per_call) I32 are their numbers of tokens.
// offsets(tensors, calls, ≥ per_call + 1) I64 are the elements where they begin in each tensor;
// after a call's last document comes the offset of the next one. After the last document of all,
// lengths are 0 and offsets are the end of the batch. Documents beyond the last call are left out.
// At most kMaxListedTensors. The host does not wait.
void list_documents(Context& ctx, const Tensor& document_start,
                    std::span<const TokenStrides> tensors, int64_t per_call, const Tensor& lengths,
                    const Tensor& offsets);

}  // namespace ingot::cuda
