// A kernel is declared once, in ops/kernels/<op>.h, and with that in the namespaces of all CPU ISAs
// and of the GPU; which of them runs is decided here, once for all ops. In a build without CUDA the
// GPU's refuse (no_cuda.cpp, from the same declarations).
#pragma once

#include "core/context.h"
#include "core/error.h"
#include "core/isa.h"
#include "core/tensor.h"

// In namespace ingot: INGOT_KERNEL(void, f, (Context & ctx, const Tensor& x))
// defined as cpu::INGOT_ISA::f in ops/cpu and as cuda::f in ops/cuda, where arguments are checked.
#define INGOT_KERNEL(result, name, arguments) \
  namespace cpu {                             \
  INGOT_CPU_KERNEL(result, name, arguments)   \
  }                                           \
  INGOT_CUDA_KERNEL(result, name, arguments)

// Of the GPU alone: the CPU has other kernels, or none.
#define INGOT_CUDA_KERNEL(result, name, arguments) \
  namespace cuda {                                 \
  result name arguments;                           \
  }

// Calls cuda::name(…) or the active ISA's cpu::name(…), by where `tensor` lies. Both take the same
// arguments.
#define INGOT_DISPATCH(tensor, name, ctx, ...)                       \
  [&] {                                                              \
    if (::ingot::runs_on_cuda(ctx, tensor))                          \
      return ::ingot::cuda::name(ctx __VA_OPT__(, ) __VA_ARGS__);    \
    return INGOT_CPU_DISPATCH(name, ctx __VA_OPT__(, ) __VA_ARGS__); \
  }()

namespace ingot {

// True: call the kernel in ops/cuda. Throws when the tensor is elsewhere than the context computes.
inline bool runs_on_cuda(const Context& ctx, const Tensor& tensor) {
  check(tensor.device == ctx.device, ErrorCode::Internal,
        "an op of a context on {} got {}; expected a tensor there", ctx.device, tensor);
  return ctx.device.kind == DeviceKind::Cuda;
}

}  // namespace ingot
