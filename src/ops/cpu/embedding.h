// CPU kernels of ops/embedding.h; arguments are checked by the caller.
#pragma once

#include "core/context.h"
#include "core/isa.h"
#include "core/tensor.h"

namespace ingot::cpu {

INGOT_CPU_KERNEL(void, embedding_forward,
                 (Context & ctx, const Tensor& tokens, const Tensor& table, const Tensor& out))
INGOT_CPU_KERNEL(void, embedding_backward,
                 (Context & ctx, const Tensor& tokens, const Tensor& dout, const Tensor& dtable))

}  // namespace ingot::cpu
