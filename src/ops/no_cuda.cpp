// The GPU kernels of a build without CUDA: each that ops/kernels declares says so.
#include "core/error/error.h"
#include "ops/common/kernel.h"

namespace ingot::cuda {
namespace {

[[noreturn]] void refuse(const char* kernel) {
  throw Error(ErrorCode::Missing,
              fmt::format("this build has no CUDA kernels, {} among them (no_cuda): build with "
                          "./run cuda",
                          kernel));
}

}  // namespace
}  // namespace ingot::cuda

#undef INGOT_CUDA_KERNEL
#define INGOT_CUDA_KERNEL(result, name, arguments) \
  namespace cuda {                                 \
  result name arguments {                          \
    refuse(#name);                                 \
  }                                                \
  }
#pragma GCC diagnostic ignored "-Wunused-parameter"
#include <all_kernels.inc>  // every header of ops/kernels, listed by CMake
