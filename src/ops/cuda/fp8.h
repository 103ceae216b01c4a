// GPU kernels of ops/fp8.h; arguments are checked by the caller. All work goes to the context's
// stream.
#pragma once

#include "ops/fp8.h"

namespace ingot::cuda {

// fp8.cu
void quantize(Context& ctx, const Tensor& x, const Quantized& out);
void quantize_by_own_scale(Context& ctx, const Tensor& x, const Quantized& out);
void update_scales(Context& ctx, DType dtype, const ScaleState& state);

// fp8_rms_norm.cu
void rms_norm_forward_fp8(Context& ctx, const Tensor& x, const Tensor& weight, double eps,
                          const Quantized& y, const Tensor& rstd);
void rms_norm_backward_fp8(Context& ctx, const Tensor& dy, const Tensor& x, const Tensor& weight,
                           const Tensor& rstd, const Tensor& dx, bool accumulate_dx,
                           const Tensor& dweight, const Quantized& y, const Quantized& dx8);

// fp8_activation.cu
void swiglu_forward_fp8(Context& ctx, const Tensor& gate_up, const Quantized& out);
void relu_squared_forward_fp8(Context& ctx, const Tensor& x, const Quantized& out);
void swiglu_backward_fp8(Context& ctx, const Tensor& dout, const Tensor& gate_up,
                         const Quantized& dgate_up, const Quantized& out);
void relu_squared_backward_fp8(Context& ctx, const Tensor& dout, const Tensor& x,
                               const Quantized& dx, const Quantized& out);

// blas_lt.cpp: c(M, N) = a(M, K) · b(N, K)ᵀ, or that added to c or, where not null, to addend,
// which lies like c; of 8-bit a and b whose values are multiplied by the scalars a_inverse and
// b_inverse. `fast`: the tensor cores' own accumulation.
void matmul_fp8(Context& ctx, const Tensor& a, const Tensor& a_inverse, const Tensor& b,
                const Tensor& b_inverse, const Tensor& c, bool accumulate, const void* addend,
                bool fast);

}  // namespace ingot::cuda
