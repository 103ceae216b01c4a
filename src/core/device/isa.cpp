#include "core/device/isa.h"

#include <cpuid.h>

#include <atomic>

#include "core/error/error.h"
#include "core/error/log.h"

namespace ingot::cpu {
namespace {

// Those that clang 16's __builtin_cpu_supports does not know.
bool has_feature(unsigned leaf, unsigned bit) {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid(leaf, &a, &b, &c, &d) != 0 && (c & bit) != 0;
}

// The features of isa_begin.h. __builtin_cpu_supports also asks the operating system whether it
// saves the wide registers.
Isa detect() {
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                    __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
                    __builtin_cpu_supports("popcnt") && has_feature(1, bit_F16C) &&
                    has_feature(0x80000001, bit_LZCNT);
  const bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  if (avx2 && avx512) return Isa::Avx512;
  return avx2 ? Isa::Avx2 : Isa::Generic;
}

Isa choose() {
  log::debug("algorithm", {{"isa", name_of(best_isa())}});
  return best_isa();
}

std::atomic<Isa>& active() {
  static std::atomic<Isa> isa{choose()};
  return isa;
}

}  // namespace

Isa best_isa() {
  static const Isa isa = detect();
  return isa;
}

Isa active_isa() {
  return active().load(std::memory_order_relaxed);
}

void force_isa(Isa isa) {
  check(isa <= best_isa(), ErrorCode::Missing,
        "this machine cannot run {} kernels: expected {} or narrower", name_of(isa),
        name_of(best_isa()));
  active().store(isa, std::memory_order_relaxed);
}

const char* name_of(Isa isa) {
  switch (isa) {
    case Isa::Generic:
      return "generic";
    case Isa::Avx2:
      return "avx2";
    case Isa::Avx512:
      return "avx512";
  }
  return "unknown";
}

}  // namespace ingot::cpu
