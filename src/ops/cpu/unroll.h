// Loops with constant indices: arrays indexed by them become registers. #pragma GCC unroll on plain
// loops measured 3 % slower. Included only by kernels, like simd.h.
#pragma once

#include <utility>

#include "ops/cpu/simd.h"

namespace ingot::cpu::INGOT_ISA {

template <class F, int... kIndices>
INGOT_SIMD void unroll(std::integer_sequence<int, kIndices...>, const F& f) {
  (f(std::integral_constant<int, kIndices>{}), ...);
}
// f(0), f(1), … with integral constants.
template <int kCount, class F>
INGOT_SIMD void unroll(const F& f) {
  unroll(std::make_integer_sequence<int, kCount>{}, f);
}
#define INGOT_INLINE __attribute__((always_inline))

}  // namespace ingot::cpu::INGOT_ISA
