// Reductions to one number, and casts.
#pragma once

#include <span>

#include "core/context.h"
#include "core/tensor.h"

namespace ingot {

// Σ x² over all tensors (F32, BF16, F64), summed in double over fixed chunks in order: equal for
// any thread count.
double sum_of_squares(Context& ctx, std::span<const Tensor> tensors);

// Σ x in double, same promise.
double sum(Context& ctx, const Tensor& tensor);

// dst = src, converted (rounding to nearest even); same numel, both contiguous. F32, BF16, F16,
// F8*, F64.
void cast(Context& ctx, const Tensor& src, const Tensor& dst);

}  // namespace ingot
