// CPU kernels of ops/fp8.h; arguments are checked by the caller. Plain loops, the same for every
// ISA: they are what the GPU's kernels are held to, and cost little beside the products.
#pragma once

#include "ops/fp8.h"

namespace ingot::cpu {

void quantize(Context& ctx, const Tensor& x, const Quantized& out);
void quantize_by_own_scale(Context& ctx, const Tensor& x, const Quantized& out);
void update_scales(DType dtype, const ScaleState& state, const UpdateScalars& scalars);

}  // namespace ingot::cpu
