// Filling tensors with addressed random numbers.
#pragma once

#include "core/device/context.h"
#include "core/random/random.h"
#include "core/tensor/tensor.h"

namespace ingot {

// out(n) F32, or on the CPU F64, contiguous: out[i] = scale · stream.normal(first_index + i) in
// F32, bit for bit, on every ISA; F64 has the same values.
void fill_normal(Context& ctx, const RandomStream& stream, uint64_t first_index, float scale,
                 const Tensor& out);

}  // namespace ingot
