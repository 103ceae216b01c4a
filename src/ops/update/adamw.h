// Decoupled-weight-decay Adam on one flat shard (PyTorch's formulas).
#pragma once

#include <span>

#include "core/device/context.h"
#include "core/tensor/tensor.h"
#include "ops/update/update_scalars.h"

namespace ingot {

struct AdamWStep {
  double lr = 0.0;
  double beta1 = 0.9;
  double beta2 = 0.95;
  double eps = 1e-8;
  uint64_t seed = 0;  // of the rounding of BF16 moments
  // The gradient's factor, whether anything changes at all, and t, the number of this update.
  UpdateScalars scalars = {};
  // Bias correction by t, counted from 1; the last entry serves all t beyond. F64.
  Tensor corrections1 = {};  // (n1): 1 - β1^t
  Tensor roots2 = {};        // (n2): √(1 - β2^t)
};

// One parameter's shard. All (n), contiguous. master and grad are F32 (or F64); m and v too, or
// both are BF16 beside F32. weight is the compute copy: the rounded master is stored there when it
// is defined and another buffer than master (F32 or BF16, on a GPU also F16; F64 with F64). Where
// master is U16 it is the low half beside a BF16 weight (ops/halves.h), and both are one F32.
struct AdamWTensors {
  Tensor master, grad, m, v, weight;
  double weight_decay = 0.0;
  uint32_t tensor = 0;       // tensor_id() of the parameter's name
  uint64_t first_index = 0;  // of the shard's first element in the whole parameter
};

// Updates all of them; on a GPU in one launch, whatever their number.
//
// A new moment in F32 lies between two BF16 numbers; which of them is kept is drawn so that the
// mean is the moment itself (stochastic rounding). Element i adds 16 bits below the last one kept:
// of RandomStream(seed, Purpose::Rounding, tensor, t).bits(first_index + i) the low half for m,
// the high half for v. The update itself uses the moments before they are rounded.
void adamw(Context& ctx, const AdamWStep& step, std::span<const AdamWTensors> tensors);

}  // namespace ingot
