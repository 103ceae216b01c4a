// One kernel source, compiled once per instruction set and chosen at run time.
//
// The sources listed in a layer's add_isa_objects (cmake/isa.cmake) are built three times, with
// INGOT_ISA set to generic, avx2 or avx512; their functions live in namespace
// ingot::cpu::INGOT_ISA. A kernel source includes isa_begin.h after all other headers and isa_end.h
// at its end. Code defined earlier (inline functions of the standard library) must not be compiled
// for a wider ISA, since the linker keeps one copy for all.
#pragma once

namespace ingot::cpu {

enum class Isa { Generic, Avx2, Avx512 };  // each also runs the code of those before it
inline constexpr Isa kAllIsas[] = {Isa::Generic, Isa::Avx2, Isa::Avx512};

Isa best_isa();           // the best this machine supports
Isa active_isa();         // the one kernels dispatch to: best_isa() unless a test forced another
void force_isa(Isa isa);  // for tests; throws ErrorCode::Missing if the machine does not support it
const char* name_of(Isa isa);

// An ISA and the instructions for dot products of 8- and 16-bit numbers that a machine may have
// beside it. The sources of add_dot_objects (cmake/isa.cmake) are built for each of these; the last
// three have INGOT_VNNI defined, the last also INGOT_BF16_DOT.
enum class DotIsa { Generic, Avx2, Avx512, Avx2Vnni, Avx512Vnni, Avx512Bf16 };
inline constexpr DotIsa kAllDotIsas[] = {DotIsa::Generic,  DotIsa::Avx2,       DotIsa::Avx512,
                                         DotIsa::Avx2Vnni, DotIsa::Avx512Vnni, DotIsa::Avx512Bf16};

bool can_run(DotIsa isa);
DotIsa active_dot_isa();  // the best that extends active_isa(), unless a test forced another
void force_dot_isa(
    DotIsa isa);  // for tests, until force_isa(); also forces the ISA that it extends
const char* name_of(DotIsa isa);

}  // namespace ingot::cpu

// Declares a kernel in all three namespaces: INGOT_CPU_KERNEL(void, f, (int a, float* b));
#define INGOT_CPU_KERNEL(result, name, arguments) \
  namespace generic {                             \
  result name arguments;                          \
  }                                               \
  namespace avx2 {                                \
  result name arguments;                          \
  }                                               \
  namespace avx512 {                              \
  result name arguments;                          \
  }

// Calls the active variant: INGOT_CPU_DISPATCH(f, a, b).
#define INGOT_CPU_DISPATCH(name, ...)                   \
  [&] {                                                 \
    switch (::ingot::cpu::active_isa()) {               \
      case ::ingot::cpu::Isa::Avx512:                   \
        return ::ingot::cpu::avx512::name(__VA_ARGS__); \
      case ::ingot::cpu::Isa::Avx2:                     \
        return ::ingot::cpu::avx2::name(__VA_ARGS__);   \
      case ::ingot::cpu::Isa::Generic:                  \
        break;                                          \
    }                                                   \
    return ::ingot::cpu::generic::name(__VA_ARGS__);    \
  }()

// The same for kernels of add_dot_objects.
#define INGOT_DOT_KERNEL(result, name, arguments) \
  INGOT_CPU_KERNEL(result, name, arguments)       \
  namespace avx2_vnni {                           \
  result name arguments;                          \
  }                                               \
  namespace avx512_vnni {                         \
  result name arguments;                          \
  }                                               \
  namespace avx512_bf16 {                         \
  result name arguments;                          \
  }

#define INGOT_DOT_DISPATCH(name, ...)                        \
  [&] {                                                      \
    switch (::ingot::cpu::active_dot_isa()) {                \
      case ::ingot::cpu::DotIsa::Avx512Bf16:                 \
        return ::ingot::cpu::avx512_bf16::name(__VA_ARGS__); \
      case ::ingot::cpu::DotIsa::Avx512Vnni:                 \
        return ::ingot::cpu::avx512_vnni::name(__VA_ARGS__); \
      case ::ingot::cpu::DotIsa::Avx2Vnni:                   \
        return ::ingot::cpu::avx2_vnni::name(__VA_ARGS__);   \
      case ::ingot::cpu::DotIsa::Avx512:                     \
        return ::ingot::cpu::avx512::name(__VA_ARGS__);      \
      case ::ingot::cpu::DotIsa::Avx2:                       \
        return ::ingot::cpu::avx2::name(__VA_ARGS__);        \
      case ::ingot::cpu::DotIsa::Generic:                    \
        break;                                               \
    }                                                        \
    return ::ingot::cpu::generic::name(__VA_ARGS__);         \
  }()
