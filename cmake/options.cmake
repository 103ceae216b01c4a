# What every target is compiled with. Debug info stays on in every build: a stack trace from a
# user's run is worth the disk space.
set(CMAKE_CXX_SCAN_FOR_MODULES OFF)
add_library(ingot_options INTERFACE)
set(warnings -Wall -Wextra -Werror -Wshadow -Wno-sign-conversion -Wnon-virtual-dtor -Woverloaded-virtual
  -fno-omit-frame-pointer)
target_compile_options(ingot_options INTERFACE
  "$<$<COMPILE_LANGUAGE:CXX>:${warnings};-Wpedantic;-Wconversion>"
  # nvcc's own output is neither pedantic nor free of conversions.
  "$<$<COMPILE_LANGUAGE:CUDA>:SHELL:-Werror all-warnings;SHELL:-Xcompiler=$<JOIN:${warnings},$<COMMA>>;--expt-relaxed-constexpr;--extended-lambda;-lineinfo>"
  # clang takes -Wconversion for -Wsign-conversion as well. SHELL: keeps it last, though it is above too.
  "$<$<COMPILE_LANG_AND_ID:CXX,Clang>:SHELL:-Wno-sign-conversion>")
# From 13 on g++ takes a reference that comes out of a function for one to the function's arguments.
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_COMPILER_VERSION VERSION_GREATER_EQUAL 13)
  target_compile_options(ingot_options INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wno-dangling-reference>)
endif()

# Tests are compiled more often than run, and what they call was optimised with its layer.
add_library(test_options INTERFACE)
target_compile_options(test_options INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-O0>)

find_program(MOLD mold)  # links in a third of GNU ld's time
if(MOLD)
  set(CMAKE_LINKER_TYPE MOLD)
endif()

set(INGOT_SANITIZE "" CACHE STRING "address, undefined, both with a comma, or thread; empty for none")
if(INGOT_SANITIZE)
  add_compile_options(-fsanitize=${INGOT_SANITIZE} -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${INGOT_SANITIZE})
  add_compile_definitions(INGOT_SANITIZED)  # for tests of what a sanitizer changes, such as memory
  # LeakSanitizer of gcc 12 takes a module's thread-local storage that begins 16 bytes into a page for that of
  # glibc 2.19, reads a size where there is none and crashes: the modules' storage goes where the program's is.
  add_compile_options($<$<CXX_COMPILER_ID:GNU>:-ftls-model=initial-exec>)
  # The sanitizers' own checks in optimised code lead gcc's flow analysis to paths that do not exist.
  target_compile_options(ingot_options INTERFACE
    "$<$<CXX_COMPILER_ID:GNU>:-Wno-error=maybe-uninitialized;-Wno-error=array-bounds>")
endif()

# For code with 64-byte vectors: g++ 12 takes its own _mm512 headers' don't-care operands for a mistake,
# and asan's frames for stack-use-after-return do not align such vectors (GCC bug 110027): it crashes.
add_library(ingot_avx512 INTERFACE)
target_compile_options(ingot_avx512 INTERFACE "$<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>")
if(INGOT_SANITIZE MATCHES address)
  target_compile_options(ingot_avx512 INTERFACE "$<$<CXX_COMPILER_ID:GNU>:--param=asan-use-after-return=0>")
endif()

option(INGOT_FUZZ "Build the libFuzzer targets (needs clang)" OFF)
if(INGOT_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()

option(INGOT_CUDA "Build the CUDA backend (needs nvcc)" OFF)
if(INGOT_CUDA)
  enable_language(CUDA)
  set(CMAKE_CUDA_STANDARD 20)
  set(CMAKE_CUDA_STANDARD_REQUIRED ON)
endif()

find_program(CCACHE ccache)
if(CCACHE)
  # One object serves all build folders: paths count from the sources. Precompiled headers hold no macro
  # or time that an object could depend on.
  set(CMAKE_CXX_COMPILER_LAUNCHER env CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=1
    CCACHE_SLOPPINESS=pch_defines,time_macros ${CCACHE})
  set(CMAKE_CUDA_COMPILER_LAUNCHER ${CMAKE_CXX_COMPILER_LAUNCHER})
endif()
