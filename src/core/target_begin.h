// From here to target_end.h functions are compiled for the instruction sets that INGOT_TARGET
// names, a string; for the build's own where it is not defined. Included after all other headers,
// since code of theirs must not be: the linker keeps one copy for all. No #pragma once: it is not a
// header.
#ifdef INGOT_TARGET
#define INGOT_PRAGMA(text) _Pragma(#text)
#ifdef __clang__  // which has no push of options
#define INGOT_CLANG_TARGET(features) \
  INGOT_PRAGMA(clang attribute push(__attribute__((target(features))), apply_to = function))
INGOT_CLANG_TARGET(INGOT_TARGET)
#else
#define INGOT_GCC_TARGET(features) INGOT_PRAGMA(GCC target(features))
#pragma GCC push_options
INGOT_GCC_TARGET(INGOT_TARGET)
#endif
#endif
