// What a run computes in and on, as a recipe says it.
#pragma once

#include <string_view>

#include "core/tensor/dtype.h"

namespace ingot {

// Auto: by the device. Tf32 is Fp32 but for its products, Fp8 is Bf16 but for the layers'.
enum class Precision { Auto, Fp64, Fp32, Tf32, Bf16, Fp16, Fp8 };

enum class DeviceChoice { Auto, Cpu, Cuda };  // Auto: a GPU if there is one

std::string_view name_of(Precision precision);  // "bf16", as in a recipe
std::string_view name_of(DeviceChoice choice);  // "cuda"

// Weights and activations of a run whose precision is decided.
DType compute_dtype(Precision precision);

}  // namespace ingot
