// GPU kernels of ops/fp8.h. The CPU uses the plain ops' kernels and those of ops/cpu/fp8.h.
#pragma once

#include "ops/common/kernel.h"
#include "ops/fp8.h"

namespace ingot {

INGOT_CUDA_KERNEL(void, quantize, (Context & ctx, const Tensor& x, const Quantized& out))
INGOT_CUDA_KERNEL(void, quantize_by_own_scale,
                  (Context & ctx, const Tensor& x, const Quantized& out))
INGOT_CUDA_KERNEL(void, update_scales,
                  (Context & ctx, DType dtype, const ScaleState& state,
                   const UpdateScalars& scalars))

INGOT_CUDA_KERNEL(void, rms_norm_forward_fp8,
                  (Context & ctx, const Tensor& x, const Tensor& weight, double eps,
                   const Quantized& y, const Tensor& rstd))
INGOT_CUDA_KERNEL(void, rms_norm_backward_fp8,
                  (Context & ctx, const Tensor& dy, const Tensor& x, const Tensor& weight,
                   const Tensor& rstd, const Tensor& dx, bool accumulate_dx, const Tensor& dweight,
                   const Quantized& y, const Quantized& dx8))

INGOT_CUDA_KERNEL(void, swiglu_forward_fp8,
                  (Context & ctx, const Tensor& gate_up, const Quantized& out))
INGOT_CUDA_KERNEL(void, relu_squared_forward_fp8,
                  (Context & ctx, const Tensor& x, const Quantized& out))
INGOT_CUDA_KERNEL(void, swiglu_backward_fp8,
                  (Context & ctx, const Tensor& dout, const Tensor& gate_up,
                   const Quantized& dgate_up, const Quantized& out))
INGOT_CUDA_KERNEL(void, relu_squared_backward_fp8,
                  (Context & ctx, const Tensor& dout, const Tensor& x, const Quantized& dx,
                   const Quantized& out))

// c(M, N) = a(M, K) · b(N, K)ᵀ, or that added to c or, if not null, to addend, which has the layout
// of c. a and b are 8-bit; the result is multiplied by the scalars a_inverse and b_inverse.
struct Fp8Gemm {
  const Tensor &a, &a_inverse, &b, &b_inverse, &c;
  bool accumulate = false;
  const void* addend = nullptr;
  bool fast = false;  // accumulate in the tensor cores' own precision
};
INGOT_CUDA_KERNEL(void, matmul_fp8, (Context & ctx, const Fp8Gemm& gemm))

}  // namespace ingot
