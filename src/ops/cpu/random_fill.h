#pragma once

#include <cstdint>

#include "core/isa.h"
#include "core/random.h"

namespace ingot::cpu {

INGOT_CPU_KERNEL(void, fill_normal,
                 (const RandomStream& stream, uint64_t first_index, float scale, float* out,
                  int64_t n))

}  // namespace ingot::cpu
