// Fills tensors with counter-based random numbers.
#pragma once

#include "core/device/context.h"
#include "core/random/random.h"
#include "core/tensor/tensor.h"

namespace ingot {

// out(n) F32, or on the CPU F64, contiguous: out[i] = scale · stream.normal(first_index + i),
// computed in F32 with the same bits on every ISA; F64 holds the same values.
void fill_normal(Context& ctx, const RandomStream& stream, uint64_t first_index, float scale,
                 const Tensor& out);

}  // namespace ingot
