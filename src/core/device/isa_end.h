// Ends what isa_begin.h began: the last line of a kernel source.
#if !defined(INGOT_ISA_generic)
#ifdef __clang__
#pragma clang attribute pop
#else
#pragma GCC reset_options
#endif
#endif
