// Training with 8-bit operands: tensors with one scale each, the ops that produce them, and the
// GEMMs that read them. docs/fp8.md has the recipe and its reasons.
//
// "Plain" below means the op of the same name in rms_norm.h, activation.h or matmul.h. An op here
// that produces a Quantized gives the same bits as the plain op, into a tensor of its input's
// dtype, followed by quantize(). On a GPU both are one pass over memory.
#pragma once

#include "core/device/context.h"
#include "core/tensor/tensor.h"
#include "ops/matmul.h"
#include "ops/update/update_scalars.h"

namespace ingot {

// A matrix (N, C) rounded to 8 bits: value ≈ stored · inverse. Tensor cores read 8-bit operands
// only along the dim that is summed over, so the same numbers are stored in two orders. An order
// that is not needed is undefined. Activations and weights are F8E4M3, gradients F8E5M2; N and C
// are multiples of 16.
struct Quantized {
  Tensor rows;        // (N, C) contiguous
  Tensor transposed;  // (C, N) contiguous
  Tensor scale;       // (1) F32, a power of two: stored = round(scale · value)
  Tensor inverse;     // (1) F32, 1 / scale; 16-byte aligned, as cuBLASLt requires
  Tensor amax;        // (1) F32: running maximum of |value| before rounding; undefined: unused

  bool defined() const { return scale.defined(); }
};

// The largest finite number: 448 of F8E4M3, 57344 of F8E5M2.
float fp8_limit(DType dtype);

// x(N, C), F32 or BF16, rows may be strided. Values beyond the limit saturate; NaN stays NaN.
void quantize(Context& ctx, const Tensor& x, const Quantized& out);
// As quantize(), after setting out.scale and out.inverse from x's own maximum: two passes. For
// weights, once a step. out.amax must be defined and is overwritten.
void quantize_by_own_scale(Context& ctx, const Tensor& x, const Quantized& out);

// Scales of S tensors of one 8-bit dtype, chosen from the maxima of the last H steps, so that
// finding a maximum needs no extra pass over memory. All F32; those of (S) may be strided.
struct ScaleState {
  Tensor amax;     // (S) of the current step
  Tensor history;  // (H, S) of the previous steps, latest first
  Tensor scale;    // (S)
  Tensor inverse;  // (S)
};
// Ends a step: amax moves to the front of the history and becomes 0; scale becomes the largest
// power of two with scale · max(history) ≤ fp8_limit(dtype). A tensor that was all zeros or had a
// non-finite value keeps its scale. If `scalars` say that the update is skipped, amax becomes 0 and
// nothing else changes.
void update_scales(Context& ctx, DType dtype, const ScaleState& state,
                   const UpdateScalars& scalars);

// Writes y.rows only. rstd(N) as in the plain op.
void rms_norm_forward(Context& ctx, const Tensor& x, const Tensor& weight, double eps,
                      const Quantized& y, const Tensor& rstd);
// The plain op on (N, C). The same pass rebuilds y, the forward output (transposed only, for the
// weight's gradient; its amax does not change), and quantizes the new dx, the input of the
// preceding GEMM's backward pass (dx8: rows and transposed). Either may be undefined.
void rms_norm_backward(Context& ctx, const Tensor& dy, const Tensor& x, const Tensor& weight,
                       const Tensor& rstd, const Tensor& dx, bool accumulate_dx,
                       const Tensor& dweight, const Quantized& y, const Quantized& dx8);

// Writes out.rows only.
void swiglu_forward(Context& ctx, const Tensor& gate_up, const Quantized& out);
void relu_squared_forward(Context& ctx, const Tensor& x, const Quantized& out);
// dgate_up and dx: rows and transposed. out: transposed only, its amax does not change.
void swiglu_backward(Context& ctx, const Tensor& dout, const Tensor& gate_up,
                     const Quantized& dgate_up, const Quantized& out);
void relu_squared_backward(Context& ctx, const Tensor& dout, const Tensor& x, const Quantized& dx,
                           const Quantized& out);

// The GEMMs of matmul.h. Results are F32 or BF16, accumulated in F32 (the forward pass on a GPU in
// the tensor cores' shorter accumulators). y(N, R) = x.rows(N, C) · w.rows(R, C)ᵀ, plus addend as
// in ops/matmul.h
void linear_forward(Context& ctx, const Quantized& x, const Quantized& w, const Tensor& y,
                    const Tensor& addend = {});
// dx(N, C) = dy.rows(N, R) · w.transposed(C, R)ᵀ
void linear_backward_input(Context& ctx, const Quantized& dy, const Quantized& w, const Tensor& dx,
                           Accumulate accumulate);
// dw(R, C) = dy.transposed(R, N) · x.transposed(C, N)ᵀ; dw is F32
void linear_backward_weight(Context& ctx, const Quantized& dy, const Quantized& x, const Tensor& dw,
                            Accumulate accumulate);

// Scratch of these ops on (N, C) with C up to `width`. GPU: 0 beyond the plain ops' scratch. CPU:
// room for the plain op's result.
int64_t fp8_workspace_bytes(const DeviceFacts& facts, DType dtype, int64_t num_rows, int64_t width);

}  // namespace ingot
