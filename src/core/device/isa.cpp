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

// Leaf 7, subleaf 1.
bool has_dot_feature(unsigned bit) {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid_count(7, 1, &a, &b, &c, &d) != 0 && (a & bit) != 0;
}

Isa base_of(DotIsa isa) {
  switch (isa) {
    case DotIsa::Generic:
      return Isa::Generic;
    case DotIsa::Avx2:
    case DotIsa::Avx2Vnni:
      return Isa::Avx2;
    case DotIsa::Avx512:
    case DotIsa::Avx512Vnni:
    case DotIsa::Avx512Bf16:
      break;
  }
  return Isa::Avx512;
}

DotIsa best_dot_isa(Isa base) {
  DotIsa best = DotIsa::Generic;
  for (const DotIsa isa : kAllDotIsas)  // the later, the better
    if (base_of(isa) == base && can_run(isa)) best = isa;
  return best;
}

std::atomic<DotIsa>& active_dot() {
  static std::atomic<DotIsa> isa{best_dot_isa(active_isa())};
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
  active_dot().store(best_dot_isa(isa), std::memory_order_relaxed);
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

bool can_run(DotIsa isa) {
  constexpr unsigned kAvxVnni = 1u << 4, kAvx512Bf16 = 1u << 5;
  static const bool avx_vnni = has_dot_feature(kAvxVnni);
  static const bool bf16 = has_dot_feature(kAvx512Bf16);
  if (base_of(isa) > best_isa()) return false;
  switch (isa) {
    case DotIsa::Avx2Vnni:
      return avx_vnni;
    case DotIsa::Avx512Vnni:
      return __builtin_cpu_supports("avx512vnni") != 0;
    case DotIsa::Avx512Bf16:
      return bf16 && __builtin_cpu_supports("avx512vnni");
    default:
      return true;
  }
}

DotIsa active_dot_isa() {
  return active_dot().load(std::memory_order_relaxed);
}

void force_dot_isa(DotIsa isa) {
  check(can_run(isa), ErrorCode::Missing, "this machine cannot run {} kernels", name_of(isa));
  force_isa(base_of(isa));
  active_dot().store(isa, std::memory_order_relaxed);
}

const char* name_of(DotIsa isa) {
  switch (isa) {
    case DotIsa::Avx2Vnni:
      return "avx2_vnni";
    case DotIsa::Avx512Vnni:
      return "avx512_vnni";
    case DotIsa::Avx512Bf16:
      return "avx512_bf16";
    default:
      return name_of(base_of(isa));
  }
}

}  // namespace ingot::cpu
