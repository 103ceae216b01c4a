// simd.h's functions applied to arrays, for each ISA.
#pragma once

#include <cstdint>

#include "core/device/isa.h"
#include "core/tensor/dtype.h"

namespace ingot::cpu {

enum class Function { Exp, Log, Tanh, Sigmoid };

INGOT_CPU_KERNEL(void, apply, (Function function, const float* x, float* y, int64_t n))
INGOT_CPU_KERNEL(void, to_bf16, (const float* x, Bf16* y, int64_t n))
INGOT_CPU_KERNEL(double, horizontal_sum_of, (const float* x))  // as many as a vector holds
INGOT_CPU_KERNEL(double, horizontal_max_of, (const float* x))
INGOT_CPU_KERNEL(int, vector_lanes, ())

}  // namespace ingot::cpu
