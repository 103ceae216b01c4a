// Training with 8-bit operands: tensors of one scale each, the ops that make them on the way, and
// the products that read them. The recipe and its reasons: docs/fp8.md.
//
// "Plain" below is the op of the same name in rms_norm.h, activation.h or matmul.h. An op here that
// makes a Quantized gives the same bits as the plain op into a tensor of its input's dtype followed
// by quantize(); on a GPU both are one pass over memory.
#pragma once

#include "core/device/context.h"
#include "core/tensor/tensor.h"
#include "ops/matmul.h"
#include "ops/update/update_scalars.h"

namespace ingot {

// A matrix (N, C) rounded to 8 bits: value ≈ stored · inverse. Tensor cores read 8-bit operands
// only along the dim that is summed over, so there are two orders of the same numbers; an undefined
// one is not wanted. Activations and weights are F8E4M3, gradients F8E5M2; N and C are multiples
// of 16.
struct Quantized {
  Tensor rows;        // (N, C) contiguous
  Tensor transposed;  // (C, N) contiguous
  Tensor scale;       // (1) F32, a power of two: values are multiplied by it, then rounded
  Tensor inverse;     // (1) F32, 1 / scale; at a multiple of 16 bytes, where cuBLASLt wants it
  Tensor amax;  // (1) F32: raised to the largest |value| that was rounded; undefined: not kept

  bool defined() const { return scale.defined(); }
};

// The largest finite number: 448 of F8E4M3, 57344 of F8E5M2.
float fp8_limit(DType dtype);

// x(N, C), F32 or BF16, rows may be strided. Values beyond the limit become the limit, NaN stays
// NaN.
void quantize(Context& ctx, const Tensor& x, const Quantized& out);
// The same after setting out.scale and out.inverse by x's own largest value: two passes. For
// weights, once a step. out.amax must be defined; it is overwritten.
void quantize_by_own_scale(Context& ctx, const Tensor& x, const Quantized& out);

// Scales of S tensors of one 8-bit dtype, chosen by what was met in the last H steps: no pass over
// memory only to find a maximum. All F32; those of (S) may be strided.
struct ScaleState {
  Tensor amax;     // (S) of the step that ends
  Tensor history;  // (H, S) of the steps before, the latest first
  Tensor scale;    // (S)
  Tensor inverse;  // (S)
};
// Ends a step: amax goes to the head of the history and becomes 0; scale becomes the largest power
// of two with scale · max(history) ≤ fp8_limit(dtype). A tensor that was all zeros, or met a number
// that is not finite, keeps its scale. A step whose update is skipped, as `scalars` say, is none:
// amax becomes 0 and nothing else changes.
void update_scales(Context& ctx, DType dtype, const ScaleState& state,
                   const UpdateScalars& scalars);

// y: rows only. rstd(N) as plain.
void rms_norm_forward(Context& ctx, const Tensor& x, const Tensor& weight, double eps,
                      const Quantized& y, const Tensor& rstd);
// As plain on (N, C). In the same pass y, the forward's output, is built again (transposed only:
// the weight's gradient reads it; its amax is not touched), and the new dx, which is what the
// product before this norm gets, is quantized (dx8: rows and transposed). Either may be undefined.
void rms_norm_backward(Context& ctx, const Tensor& dy, const Tensor& x, const Tensor& weight,
                       const Tensor& rstd, const Tensor& dx, bool accumulate_dx,
                       const Tensor& dweight, const Quantized& y, const Quantized& dx8);

// out: rows only.
void swiglu_forward(Context& ctx, const Tensor& gate_up, const Quantized& out);
void relu_squared_forward(Context& ctx, const Tensor& x, const Quantized& out);
// dgate_up and dx: rows and transposed. out: transposed only, its amax is not touched.
void swiglu_backward(Context& ctx, const Tensor& dout, const Tensor& gate_up,
                     const Quantized& dgate_up, const Quantized& out);
void relu_squared_backward(Context& ctx, const Tensor& dout, const Tensor& x, const Quantized& dx,
                           const Quantized& out);

// The products of matmul.h. Results are F32 or BF16, summed in F32 (the forward with the tensor
// cores' own, shorter accumulation on a GPU).
// y(N, R) = x.rows(N, C) · w.rows(R, C)ᵀ, plus addend as in ops/matmul.h
void linear_forward(Context& ctx, const Quantized& x, const Quantized& w, const Tensor& y,
                    const Tensor& addend = {});
// dx(N, C) = dy.rows(N, R) · w.transposed(C, R)ᵀ
void linear_backward_input(Context& ctx, const Quantized& dy, const Quantized& w, const Tensor& dx,
                           Accumulate accumulate);
// dw(R, C) = dy.transposed(R, N) · x.transposed(C, N)ᵀ; dw is F32
void linear_backward_weight(Context& ctx, const Quantized& dy, const Quantized& x, const Tensor& dw,
                            Accumulate accumulate);

// Scratch of any of these ops on (N, C) with C up to `width`: 0 on a GPU beyond what the plain ops
// ask for, on the CPU room for the plain op's result.
int64_t fp8_workspace_bytes(const DeviceFacts& facts, DType dtype, int64_t num_rows, int64_t width);

}  // namespace ingot
