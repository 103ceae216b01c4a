// CPU kernels of ops/fp8.h; the caller checks the arguments. Plain loops, the same for every ISA:
// the GPU kernels are tested against them, and they cost little beside the GEMMs.
#pragma once

#include "ops/fp8.h"

namespace ingot::cpu {

void quantize(Context& ctx, const Tensor& x, const Quantized& out);
void quantize_by_own_scale(Context& ctx, const Tensor& x, const Quantized& out);
void update_scales(DType dtype, const ScaleState& state, const UpdateScalars& scalars);

}  // namespace ingot::cpu
