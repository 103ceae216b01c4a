// AdamW on flat shards (PyTorch's formulas).
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
  uint64_t seed = 0;  // for the rounding of BF16 moments
  // The gradient's factor, whether the update is skipped, and t, the number of this update.
  UpdateScalars scalars = {};
  // Bias corrections for t, counted from 1; larger t reuse the last entry. F64.
  Tensor corrections1 = {};  // (n1): 1 - β1^t
  Tensor roots2 = {};        // (n2): √(1 - β2^t)
};

// One parameter's shard. All (n), contiguous. master and grad are F32 (or F64). m and v are too, or
// both are BF16 with F32. weight is the compute copy: it receives the rounded master if it is
// defined and not the same buffer (F32 or BF16, on a GPU also F16; F64 with F64). If master is U16,
// it is the low half of the number whose high half is the BF16 weight (ops/halves.h).
struct AdamWTensors {
  Tensor master, grad, m, v, weight;
  double weight_decay = 0.0;
  uint32_t tensor = 0;       // tensor_id() of the parameter's name
  uint64_t first_index = 0;  // of the shard's first element in the parameter
};

// Updates all shards; on a GPU in one launch.
//
// BF16 moments use stochastic rounding: a new F32 moment is rounded to one of its two BF16
// neighbours so that the mean is the moment itself. Element i adds 16 random bits below the last
// kept bit, from RandomStream(seed, Purpose::Rounding, tensor, t).bits(first_index + i): the low
// half for m, the high half for v. The update itself uses the unrounded moments.
void adamw(Context& ctx, const AdamWStep& step, std::span<const AdamWTensors> tensors);

}  // namespace ingot
