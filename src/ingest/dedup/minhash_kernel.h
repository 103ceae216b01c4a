// The inner loop of MinHash, once per instruction set.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/device/isa.h"

namespace ingot {

inline constexpr uint64_t kMersenne61 = (uint64_t{1} << 61) - 1;
inline constexpr size_t kMinHashBlock = 8;  // the number of lanes is a multiple of this

}  // namespace ingot

namespace ingot::cpu {

// minima[i] = min over h of ((h * a[i] + b[i]) mod 2^64) mod (2^61 - 1), for num_lanes lanes, a
// multiple of kMinHashBlock. `hashes` is not empty. The multiplication wraps: this is not a
// universal hash, but it is datatrove's.
INGOT_CPU_KERNEL(void, find_minima,
                 (std::span<const uint64_t> hashes, const uint64_t* a, const uint64_t* b,
                  size_t num_lanes, uint64_t* minima))

}  // namespace ingot::cpu
