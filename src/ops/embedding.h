// Token embedding lookup and its gradient.
#pragma once

#include "core/device/context.h"
#include "core/tensor/tensor.h"

namespace ingot {

// out(N, C) = table(V, C)[tokens(N)]; tokens I32, all contiguous. Throws ErrorCode::Data with
// position and id if a token is outside [0, V). A GPU does not check, since that would wait: the
// caller guarantees it there (see BatchInput::load).
void embedding_forward(Context& ctx, const Tensor& tokens, const Tensor& table, const Tensor& out);

// The same, added to out(N, C): for a second table, such as learned positions.
void embedding_add(Context& ctx, const Tensor& tokens, const Tensor& table, const Tensor& out);

// dtable(V, C) += rows of dout(N, C); dtable is F32 (F64 for F64 inputs). Deterministic: a row's
// contributions are added in token order for any number of threads (on a GPU a frequent token uses
// a fixed number of partial sums in that order). Throws as the forward pass does.
void embedding_backward(Context& ctx, const Tensor& tokens, const Tensor& dout,
                        const Tensor& dtable);

// 0 on the CPU, where threads split the columns and need no sorted copy of the tokens.
int64_t embedding_backward_workspace_bytes(const DeviceFacts& facts, int64_t num_tokens);

}  // namespace ingot
