// Precision and device of a run, as written in a recipe.
#pragma once

#include <string_view>

#include "core/tensor/dtype.h"

namespace ingot {

// Auto: by the device. Tf32 is Fp32 except for GEMMs; Fp8 is Bf16 except for the layers' GEMMs.
enum class Precision { Auto, Fp64, Fp32, Tf32, Bf16, Fp16, Fp8 };

enum class DeviceChoice { Auto, Cpu, Cuda };  // Auto: a GPU if there is one

std::string_view name_of(Precision precision);  // "bf16", as in a recipe
std::string_view name_of(DeviceChoice choice);  // "cuda"

// Dtype of weights and activations; the precision must not be Auto.
DType compute_dtype(Precision precision);

}  // namespace ingot
