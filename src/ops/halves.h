// F32 numbers stored in two halves: the BF16 that GEMMs read, and the other 16 bits. Together they
// take 4 bytes and are the exact number.
#pragma once

#include "core/device/context.h"
#include "core/tensor/tensor.h"

namespace ingot {

// bits(exact) = (bits(high) << 16) + low, where low, stored as U16, is signed. So high is `exact`
// rounded to the nearest BF16, with ties away from zero: ties to even could not be undone. All (n),
// contiguous: exact F32, high BF16, low U16.
void split_halves(Context& ctx, const Tensor& exact, const Tensor& high, const Tensor& low);
void join_halves(Context& ctx, const Tensor& high, const Tensor& low, const Tensor& exact);

}  // namespace ingot
