// Ends what target_begin.h began.
#ifdef INGOT_TARGET
#ifdef __clang__
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif
#endif
