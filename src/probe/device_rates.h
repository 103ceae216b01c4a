// Measures a rank's device: GEMMs, memory copies and host transfers.
#pragma once

#include <nlohmann/json.hpp>

#include "core/device/context.h"

namespace ingot {

// FLOP/s and bytes/s; 0: not supported.
struct DeviceRates {
  double gemm_f64 = 0.0, gemm_f32 = 0.0, gemm_tf32 = 0.0, gemm_bf16 = 0.0, gemm_fp8 = 0.0;
  double memory_copy = 0.0;                   // read plus written: measure_copy_bandwidth()
  double to_device = 0.0, from_device = 0.0;  // of a GPU, with pinned host memory
};

// Takes about a second; on a GPU it uses about 2 GB of memory. The GEMMs are this program's, as in
// a run: square, of random numbers, with side 8192 on a GPU, 1024 on the CPU (f64: 256).
DeviceRates measure_device(Context& ctx);

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(DeviceRates, gemm_f64, gemm_f32, gemm_tf32, gemm_bf16, gemm_fp8,
                                   memory_copy, to_device, from_device)

}  // namespace ingot
