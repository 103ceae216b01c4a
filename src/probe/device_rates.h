// How fast a rank's device multiplies, copies and exchanges bytes with the host.
#pragma once

#include <nlohmann/json.hpp>

#include "core/device/context.h"

namespace ingot {

// FLOP/s and bytes/s; 0: the device does not do it.
struct DeviceRates {
  double gemm_f64 = 0.0, gemm_f32 = 0.0, gemm_tf32 = 0.0, gemm_bf16 = 0.0, gemm_fp8 = 0.0;
  double memory_copy = 0.0;                   // read plus written: measure_copy_bandwidth()
  double to_device = 0.0, from_device = 0.0;  // of a GPU, from and to pinned memory
};

// In about a second; on a GPU it takes some 2 GB of its memory. The GEMMs are of this program, as a
// run meets them: square, of random numbers, 8192 a side on a GPU, 1024 on the CPU (f64: 256).
DeviceRates measure_device(Context& ctx);

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(DeviceRates, gemm_f64, gemm_f32, gemm_tf32, gemm_bf16, gemm_fp8,
                                   memory_copy, to_device, from_device)

}  // namespace ingot
