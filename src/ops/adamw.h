// Decoupled-weight-decay Adam on one flat shard (PyTorch's formulas).
#pragma once

#include <span>

#include "core/context.h"
#include "core/tensor.h"

namespace ingot {

struct AdamWStep {
  double lr = 0.0;
  double beta1 = 0.9;
  double beta2 = 0.95;
  double eps = 1e-8;
  int64_t step = 1;         // 1 for the first update: bias correction
  double grad_scale = 1.0;  // multiplies the gradient: clipping folded in
};

// One parameter's shard. All (n), contiguous. master, m, v, grad F32 (or all F64); weight is the
// compute copy: the rounded master is stored there when it is defined and another buffer than
// master (F32 or BF16; F64 with F64).
struct AdamWTensors {
  Tensor master, grad, m, v, weight;
  double weight_decay = 0.0;
};

// Updates all of them; on a GPU in one launch, whatever their number.
void adamw(Context& ctx, const AdamWStep& step, std::span<const AdamWTensors> tensors);

}  // namespace ingot
