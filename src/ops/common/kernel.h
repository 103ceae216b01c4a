// A kernel is declared once, in ops/kernels/<op>.h; that declares it in the namespaces of all CPU
// ISAs and of the GPU. ops/common/dispatch.h selects one of them. In a build without CUDA the GPU
// functions throw (no_cuda.cpp, from the same declarations).
#pragma once

#include "core/device/context.h"
#include "core/device/isa.h"
#include "core/tensor/tensor.h"

// In namespace ingot: INGOT_KERNEL(void, f, (Context & ctx, const Tensor& x)) Define it as
// cpu::INGOT_ISA::f in ops/cpu and as cuda::f in ops/cuda. The caller checks the arguments; GPU
// work goes to the context's stream.
#define INGOT_KERNEL(result, name, arguments) \
  namespace cpu {                             \
  INGOT_CPU_KERNEL(result, name, arguments)   \
  }                                           \
  INGOT_CUDA_KERNEL(result, name, arguments)

// A GPU kernel without a CPU counterpart.
#define INGOT_CUDA_KERNEL(result, name, arguments) \
  namespace cuda {                                 \
  result name arguments;                           \
  }
