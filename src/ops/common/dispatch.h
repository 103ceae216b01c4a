// Selects the backend that runs an op, for all ops.
#pragma once

#include "core/error/error.h"
#include "ops/common/kernel.h"

namespace ingot {

// True: call the kernel in ops/cuda. Throws if the tensor is not on the context's device.
inline bool runs_on_cuda(const Context& ctx, const Tensor& tensor) {
  check(tensor.device == ctx.device, ErrorCode::Internal,
        "an op of a context on {} got {}; expected a tensor there", ctx.device, tensor);
  return ctx.device.kind == DeviceKind::Cuda;
}

}  // namespace ingot

// Calls cuda::name(…) or the active ISA's cpu::name(…), depending on where `tensor` lies.
// INGOT_KERNEL(…, name, …) declared both.
#define INGOT_DISPATCH(tensor, name, ctx, ...)                       \
  [&] {                                                              \
    if (::ingot::runs_on_cuda(ctx, tensor))                          \
      return ::ingot::cuda::name(ctx __VA_OPT__(, ) __VA_ARGS__);    \
    return INGOT_CPU_DISPATCH(name, ctx __VA_OPT__(, ) __VA_ARGS__); \
  }()
