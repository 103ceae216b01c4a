#include "probe/fma_rate.h"

#include "ops/cpu/simd.h"

namespace ingot::cpu::INGOT_ISA {

double run_fmas(int64_t rounds) {
  // Latency 4 times two units needs 8 in flight; 12 leave slack and fit 16 registers.
  constexpr int kChains = 12;
  FloatV chain[kChains];
  for (int i = 0; i < kChains; ++i) chain[i] = broadcast<float>(static_cast<float>(i));
  const FloatV factor = broadcast<float>(0.999f), term = broadcast<float>(1e-3f);
  for (int64_t round = 0; round < rounds; ++round)
    for (FloatV& c : chain) {
      c = fma(c, factor, term);
      asm volatile("" : "+x"(c));  // keeps every one of them, and the loop as it stands
    }
  return 2.0 * kChains * kLanes<float> * static_cast<double>(rounds);
}

}  // namespace ingot::cpu::INGOT_ISA

#include "core/device/isa_end.h"
