// From here to isa_end.h functions are compiled for INGOT_ISA. isa.h says where to include this and
// why it is a pragma and not a compiler flag. No #pragma once: it is included many times.
#ifndef INGOT_ISA_BEGUN
#define INGOT_ISA_BEGUN
#define INGOT_AVX2_FEATURES "avx2,fma,f16c,bmi,bmi2,lzcnt,popcnt"
#define INGOT_AVX512_FEATURES "avx512f,avx512bw,avx512dq,avx512vl," INGOT_AVX2_FEATURES
// What INGOT_VNNI and INGOT_BF16_DOT add, for kernels of add_dot_objects.
#if defined(INGOT_BF16_DOT)
#define INGOT_DOT_FEATURES "avx512vnni,avx512bf16,"
#elif defined(INGOT_VNNI) && defined(INGOT_ISA_avx512)
#define INGOT_DOT_FEATURES "avx512vnni,"
#elif defined(INGOT_VNNI)
#define INGOT_DOT_FEATURES "avxvnni,"
#else
#define INGOT_DOT_FEATURES
#endif
#define INGOT_PRAGMA(text) _Pragma(#text)
#ifdef __clang__
#define INGOT_TARGET(features) \
  INGOT_PRAGMA(clang attribute push(__attribute__((target(features))), apply_to = function))
#else
#define INGOT_TARGET(features) INGOT_PRAGMA(GCC target(features))
#endif
#if defined(INGOT_ISA_avx512) && defined(__clang__)
INGOT_TARGET(INGOT_DOT_FEATURES INGOT_AVX512_FEATURES)
#elif defined(INGOT_ISA_avx512)
INGOT_TARGET(INGOT_DOT_FEATURES INGOT_AVX512_FEATURES ",prefer-vector-width=512")
#elif defined(INGOT_ISA_avx2)
INGOT_TARGET(INGOT_DOT_FEATURES INGOT_AVX2_FEATURES)
#elif !defined(INGOT_ISA_generic)
#error "kernel sources are built by add_isa_objects, with INGOT_ISA=generic|avx2|avx512"
#endif
#endif
