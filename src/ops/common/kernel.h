// A kernel is declared once, in ops/kernels/<op>.h, and with that in the namespaces of all CPU ISAs
// and of the GPU. ops/common/dispatch.h says which of them runs; in a build without CUDA the GPU's
// refuse (no_cuda.cpp, from the same declarations).
#pragma once

#include "core/device/context.h"
#include "core/device/isa.h"
#include "core/tensor/tensor.h"

// In namespace ingot: INGOT_KERNEL(void, f, (Context & ctx, const Tensor& x))
// Defined as cpu::INGOT_ISA::f in ops/cpu and as cuda::f in ops/cuda. Arguments are checked by the
// caller; all work of a GPU's goes to the context's stream.
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
