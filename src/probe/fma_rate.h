// Measures the arithmetic limit, with one kernel per ISA.
#pragma once

#include <cstdint>

#include "core/device/isa.h"

namespace ingot::cpu {

// Runs `rounds` rounds of independent fused multiply-adds on registers; returns the operations
// done.
INGOT_CPU_KERNEL(double, run_fmas, (int64_t rounds))

}  // namespace ingot::cpu
