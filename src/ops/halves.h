// F32 numbers kept in two halves: the BF16 that products read and the 16 bits it lacks. Together
// they take the 4 bytes of the number and are exactly it.
#pragma once

#include "core/device/context.h"
#include "core/tensor/tensor.h"

namespace ingot {

// bits(exact) = (bits(high) << 16) + low, where low, stored as U16, is signed. So high is `exact`
// rounded to the nearest BF16, but a tie goes away from zero: which way an even one went could not
// be told afterwards. All (n), contiguous: exact F32, high BF16, low U16.
void split_halves(Context& ctx, const Tensor& exact, const Tensor& high, const Tensor& low);
void join_halves(Context& ctx, const Tensor& high, const Tensor& low, const Tensor& exact);

}  // namespace ingot
