// Included last, after every other header of a kernel source: from here on functions are compiled
// for INGOT_ISA. isa.h says why this is a pragma and not a compiler flag.
#if defined(INGOT_ISA_avx512)
#pragma GCC target( \
    "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c,bmi,bmi2,prefer-vector-width=512")
#elif defined(INGOT_ISA_avx2)
#pragma GCC target("avx2,fma,f16c,bmi,bmi2")
#elif defined(INGOT_ISA_generic)
#else
#error "kernel sources are built with INGOT_ISA=generic|avx2|avx512"
#endif
