#include "ops/fp8.h"

#include <algorithm>

#include "ops/activation.h"
#include "ops/common/addend.h"
#include "ops/common/checks.h"
#include "ops/common/dispatch.h"
#include "ops/cpu/fp8.h"
#include "ops/kernels/fp8.h"
#include "ops/kernels/matmul.h"
#include "ops/rms_norm.h"

namespace ingot {
namespace {

constexpr DType kActivation = DType::F8E4M3;  // and weights
constexpr DType kGradient = DType::F8E5M2;
constexpr int64_t kExtentStep = 16;

void check_extents(const char* op, const char* name, const Tensor& matrix) {
  check(matrix.shape[0] % kExtentStep == 0 && matrix.shape[1] % kExtentStep == 0,
        ErrorCode::Internal, "{}: the extents of {} must be multiples of {}, got {}", op, name,
        kExtentStep, matrix);
}

// A matrix F32 or BF16 with a contiguous last dim, of extents that 8-bit operands can have.
void check_matrix(const char* op, const char* name, const Tensor& tensor) {
  check(tensor.dtype == DType::F32 || tensor.dtype == DType::BF16, ErrorCode::Internal,
        "{}: {} must be f32 or bf16, got {}", op, name, tensor);
  check_rank(op, name, tensor, 2);
  check_float(op, name, tensor);
  check_extents(op, name, tensor);
}

void check_like(const char* op, const char* name, const Tensor& tensor, const Tensor& like) {
  check_float(op, name, tensor);
  check_dtype(op, name, tensor, like.dtype);
  check_shape(op, name, tensor, like.shape);
}

void check_vector(const char* op, const char* name, const Tensor& tensor, DType dtype, int64_t n) {
  check_dtype(op, name, tensor, dtype);
  check_shape(op, name, tensor, {n});
  check_contiguous(op, name, tensor);
}

// x(N, C), weight(C), rstd(N).
void check_norm(const char* op, const Tensor& x, const Tensor& weight, const Tensor& rstd) {
  check_matrix(op, "x", x);
  check_vector(op, "weight", weight, x.dtype, x.shape[1]);
  check_vector(op, "rstd", rstd, DType::F32, x.shape[0]);
}

void check_order(const char* op, const char* name, const char* order, const Tensor& tensor,
                 DType dtype, const Shape& shape) {
  check(tensor.defined(), ErrorCode::Internal, "{}: {}.{} is wanted, got an undefined tensor", op,
        name, order);
  check(tensor.dtype == dtype && tensor.shape == shape && tensor.is_contiguous(),
        ErrorCode::Internal, "{}: {}.{} must be contiguous {} {}, got {}", op, name, order,
        name_of(dtype), shape, tensor);
}

void check_unwanted(const char* op, const char* name, const char* order, const Tensor& tensor) {
  check(!tensor.defined(), ErrorCode::Internal, "{}: {}.{} is not made here, got {}", op, name,
        order, tensor);
}

void check_scalar(const char* op, const char* name, const char* part, const Tensor& tensor,
                  Device device) {
  check(tensor.defined() && tensor.dtype == DType::F32 && tensor.shape == Shape{1} &&
            tensor.device == device,
        ErrorCode::Internal, "{}: {}.{} must be f32 (1) on {}, got {}", op, name, part, device,
        tensor);
}

enum class Orders { Rows, Transposed, Both };

// `q` of a matrix (N, C) on `device`.
void check_quantized(const char* op, const char* name, const Quantized& q, DType dtype, int64_t N,
                     int64_t C, Orders orders, Device device) {
  if (orders == Orders::Transposed) {
    check_unwanted(op, name, "rows", q.rows);
  } else {
    check_order(op, name, "rows", q.rows, dtype, {N, C});
  }
  if (orders == Orders::Rows) {
    check_unwanted(op, name, "transposed", q.transposed);
  } else {
    check_order(op, name, "transposed", q.transposed, dtype, {C, N});
  }
  check_scalar(op, name, "scale", q.scale, device);
  check_scalar(op, name, "inverse", q.inverse, device);
  if (q.amax.defined()) check_scalar(op, name, "amax", q.amax, device);
}

// Whichever orders are wanted, of either dtype.
void check_quantize(const char* op, const Tensor& x, const Quantized& out) {
  check_matrix(op, "x", x);
  check(out.rows.defined() || out.transposed.defined(), ErrorCode::Internal,
        "{}: out.rows or out.transposed is wanted, got neither", op);
  const bool both = out.rows.defined() && out.transposed.defined();
  const Orders orders = both                 ? Orders::Both
                        : out.rows.defined() ? Orders::Rows
                                             : Orders::Transposed;
  const DType dtype = out.rows.defined() ? out.rows.dtype : out.transposed.dtype;
  check(dtype == kActivation || dtype == kGradient, ErrorCode::Internal,
        "{}: out must be {} or {}, got {}", op, name_of(kActivation), name_of(kGradient),
        name_of(dtype));
  check_quantized(op, "out", out, dtype, x.shape[0], x.shape[1], orders, x.device);
}

Quantized without_amax(Quantized q) {
  q.amax = {};
  return q;
}

}  // namespace

float fp8_limit(DType dtype) {
  switch (dtype) {
    case DType::F8E4M3:
      return 448.0f;
    case DType::F8E5M2:
      return 57344.0f;
    default:
      throw Error(ErrorCode::Internal,
                  fmt::format("fp8_limit: expected f8e4m3 or f8e5m2, got {}", name_of(dtype)));
  }
}

void quantize(Context& ctx, const Tensor& x, const Quantized& out) {
  check_quantize("quantize", x, out);
  if (runs_on_cuda(ctx, x)) return cuda::quantize(ctx, x, out);
  cpu::quantize(ctx, x, out);
}

void quantize_by_own_scale(Context& ctx, const Tensor& x, const Quantized& out) {
  check_quantize("quantize_by_own_scale", x, out);
  check_scalar("quantize_by_own_scale", "out", "amax", out.amax, x.device);
  if (runs_on_cuda(ctx, x)) return cuda::quantize_by_own_scale(ctx, x, out);
  cpu::quantize_by_own_scale(ctx, x, out);
}

void update_scales(Context& ctx, DType dtype, const ScaleState& state,
                   const UpdateScalars& scalars) {
  constexpr const char* kOp = "update_scales";
  fp8_limit(dtype);  // throws for any other dtype
  check_rank(kOp, "history", state.history, 2);
  check_dtype(kOp, "history", state.history, DType::F32);
  check_contiguous(kOp, "history", state.history);
  check(state.history.shape[0] > 0, ErrorCode::Internal,
        "{}: history must hold at least one step, got {}", kOp, state.history);
  const int64_t S = state.history.shape[1];
  const std::pair<const char*, const Tensor&> rows[] = {
      {"amax", state.amax}, {"scale", state.scale}, {"inverse", state.inverse}};
  for (const auto& [name, row] : rows) {
    check_dtype(kOp, name, row, DType::F32);
    check_shape(kOp, name, row, {S});
  }
  check_update_scalars(kOp, ctx, scalars);
  if (runs_on_cuda(ctx, state.scale)) return cuda::update_scales(ctx, dtype, state, scalars);
  cpu::update_scales(dtype, state, scalars);
}

// Each op below is, on the CPU, the plain one into scratch memory and then quantize().

void rms_norm_forward(Context& ctx, const Tensor& x, const Tensor& weight, double eps,
                      const Quantized& y, const Tensor& rstd) {
  check_norm("rms_norm_forward", x, weight, rstd);
  check_quantized("rms_norm_forward", "y", y, kActivation, x.shape[0], x.shape[1], Orders::Rows,
                  x.device);
  if (runs_on_cuda(ctx, x)) return cuda::rms_norm_forward_fp8(ctx, x, weight, eps, y, rstd);
  const Workspace::Scope scope(ctx.workspace);
  const Tensor plain = ctx.workspace.take(x.dtype, x.shape);  // (N, C)
  rms_norm_forward(ctx, x, weight, eps, plain, rstd);
  cpu::quantize(ctx, plain, y);
}

void rms_norm_backward(Context& ctx, const Tensor& dy, const Tensor& x, const Tensor& weight,
                       const Tensor& rstd, const Tensor& dx, bool accumulate_dx,
                       const Tensor& dweight, const Quantized& y, const Quantized& dx8) {
  constexpr const char* kOp = "rms_norm_backward";
  check_norm(kOp, x, weight, rstd);
  check_like(kOp, "dy", dy, x);
  check_like(kOp, "dx", dx, x);
  check(!accumulate_dx || dx.data != dy.data, ErrorCode::Internal,
        "{}: dx must be another buffer than dy to accumulate", kOp);
  check_vector(kOp, "dweight", dweight, DType::F32, x.shape[1]);
  if (y.defined())
    check_quantized(kOp, "y", y, kActivation, x.shape[0], x.shape[1], Orders::Transposed, x.device);
  if (dx8.defined())
    check_quantized(kOp, "dx8", dx8, kGradient, x.shape[0], x.shape[1], Orders::Both, x.device);
  if (runs_on_cuda(ctx, x))
    return cuda::rms_norm_backward_fp8(ctx, dy, x, weight, rstd, dx, accumulate_dx, dweight, y,
                                       dx8);
  const Workspace::Scope scope(ctx.workspace);
  const Tensor plain = y.defined() ? ctx.workspace.take(x.dtype, x.shape) : Tensor{};  // (N, C)
  rms_norm_backward(ctx, dy, x, weight, rstd, dx, accumulate_dx, dweight, plain);
  if (y.defined()) cpu::quantize(ctx, plain, without_amax(y));
  if (dx8.defined()) cpu::quantize(ctx, dx, dx8);
}

void swiglu_forward(Context& ctx, const Tensor& gate_up, const Quantized& out) {
  constexpr const char* kOp = "swiglu_forward";
  check_matrix(kOp, "gate_up", gate_up);
  check_contiguous(kOp, "gate_up", gate_up);
  const int64_t N = gate_up.shape[0], F = gate_up.shape[1] / 2;
  check_quantized(kOp, "out", out, kActivation, N, F, Orders::Rows, gate_up.device);
  check_extents(kOp, "out", out.rows);
  if (runs_on_cuda(ctx, gate_up)) return cuda::swiglu_forward_fp8(ctx, gate_up, out);
  const Workspace::Scope scope(ctx.workspace);
  const Tensor plain = ctx.workspace.take(gate_up.dtype, {N, F});
  swiglu_forward(ctx, gate_up, plain);
  cpu::quantize(ctx, plain, out);
}

void relu_squared_forward(Context& ctx, const Tensor& x, const Quantized& out) {
  constexpr const char* kOp = "relu_squared_forward";
  check_matrix(kOp, "x", x);
  check_contiguous(kOp, "x", x);
  check_quantized(kOp, "out", out, kActivation, x.shape[0], x.shape[1], Orders::Rows, x.device);
  if (runs_on_cuda(ctx, x)) return cuda::relu_squared_forward_fp8(ctx, x, out);
  const Workspace::Scope scope(ctx.workspace);
  const Tensor plain = ctx.workspace.take(x.dtype, x.shape);  // (N, F)
  relu_squared_forward(ctx, x, plain);
  cpu::quantize(ctx, plain, out);
}

void swiglu_backward(Context& ctx, const Tensor& dout, const Tensor& gate_up,
                     const Quantized& dgate_up, const Quantized& out) {
  constexpr const char* kOp = "swiglu_backward";
  check_matrix(kOp, "dout", dout);
  check_contiguous(kOp, "dout", dout);
  const int64_t N = dout.shape[0], F = dout.shape[1];
  check_dtype(kOp, "gate_up", gate_up, dout.dtype);
  check_shape(kOp, "gate_up", gate_up, {N, 2 * F});
  check_contiguous(kOp, "gate_up", gate_up);
  check_quantized(kOp, "dgate_up", dgate_up, kGradient, N, 2 * F, Orders::Both, dout.device);
  check_quantized(kOp, "out", out, kActivation, N, F, Orders::Transposed, dout.device);
  if (runs_on_cuda(ctx, dout)) return cuda::swiglu_backward_fp8(ctx, dout, gate_up, dgate_up, out);
  const Workspace::Scope scope(ctx.workspace);
  const Tensor gradient = ctx.workspace.take(dout.dtype, {N, 2 * F});
  const Tensor rebuilt = ctx.workspace.take(dout.dtype, {N, F});
  swiglu_backward(ctx, dout, gate_up, gradient, rebuilt);
  cpu::quantize(ctx, gradient, dgate_up);
  cpu::quantize(ctx, rebuilt, without_amax(out));
}

void relu_squared_backward(Context& ctx, const Tensor& dout, const Tensor& x, const Quantized& dx,
                           const Quantized& out) {
  constexpr const char* kOp = "relu_squared_backward";
  check_matrix(kOp, "x", x);
  check_contiguous(kOp, "x", x);
  check_like(kOp, "dout", dout, x);
  check_contiguous(kOp, "dout", dout);
  check_quantized(kOp, "dx", dx, kGradient, x.shape[0], x.shape[1], Orders::Both, x.device);
  check_quantized(kOp, "out", out, kActivation, x.shape[0], x.shape[1], Orders::Transposed,
                  x.device);
  if (runs_on_cuda(ctx, x)) return cuda::relu_squared_backward_fp8(ctx, dout, x, dx, out);
  const Workspace::Scope scope(ctx.workspace);
  const Tensor gradient = ctx.workspace.take(x.dtype, x.shape);  // (N, F)
  const Tensor rebuilt = ctx.workspace.take(x.dtype, x.shape);   // (N, F)
  relu_squared_backward(ctx, dout, x, gradient, rebuilt);
  cpu::quantize(ctx, gradient, dx);
  cpu::quantize(ctx, rebuilt, without_amax(out));
}

namespace {

// One operand of a GEMM: stored(extent, K).
struct Operand {
  const char* name;
  const Tensor& stored;
  const Tensor& inverse;
  DType dtype;
};

enum class Sum { Float, Fast };  // on a GPU: promoted to F32 on the way, or as the cores have it

// c(M, N) = a(M, K) · b(N, K)ᵀ
void multiply(const char* op, Context& ctx, const Operand& a, const Operand& b, const char* c_name,
              const Tensor& c, Accumulate accumulate, Sum sum, const Tensor& addend = {}) {
  check_matrix(op, c_name, c);
  check_rank(op, a.name, a.stored, 2);
  const int64_t M = c.shape[0], N = c.shape[1], K = a.stored.shape[1];
  const auto check_operand = [&](const Operand& operand, int64_t extent) {
    check_dtype(op, operand.name, operand.stored, operand.dtype);
    check_shape(op, operand.name, operand.stored, {extent, K});
    check_contiguous(op, operand.name, operand.stored);
    check_extents(op, operand.name, operand.stored);
    check_scalar(op, operand.name, "inverse", operand.inverse, c.device);
  };
  check_operand(a, M);
  check_operand(b, N);
  const void* const added = addend_for(op, ctx, addend, c);
  if (runs_on_cuda(ctx, c))
    return cuda::matmul_fp8(ctx, {.a = a.stored,
                                  .a_inverse = a.inverse,
                                  .b = b.stored,
                                  .b_inverse = b.inverse,
                                  .c = c,
                                  .accumulate = accumulate == Accumulate::Yes,
                                  .addend = added,
                                  .fast = sum == Sum::Fast});
  const auto side = [](const Operand& operand, bool transposed) {
    return GemmOperand{.data = operand.stored.data,
                       .dtype = operand.dtype,
                       .stride = operand.stored.strides[0],
                       .transposed = transposed,
                       .scale = *operand.inverse.as<float>()};
  };
  const Gemm gemm{.M = M,
                  .N = N,
                  .K = K,
                  .a = side(a, false),
                  .b = side(b, true),
                  .c = c.data,
                  .c_dtype = c.dtype,
                  .c_stride = c.strides[0],
                  .accumulate = accumulate == Accumulate::Yes};
  INGOT_CPU_DISPATCH(matmul, ctx, gemm);
}

}  // namespace

void linear_forward(Context& ctx, const Quantized& x, const Quantized& w, const Tensor& y,
                    const Tensor& addend) {
  multiply("linear_forward", ctx, {"x.rows", x.rows, x.inverse, kActivation},
           {"w.rows", w.rows, w.inverse, kActivation}, "y", y,
           addend.defined() ? Accumulate::Yes : Accumulate::No, Sum::Fast, addend);
}

void linear_backward_input(Context& ctx, const Quantized& dy, const Quantized& w, const Tensor& dx,
                           Accumulate accumulate) {
  multiply("linear_backward_input", ctx, {"dy.rows", dy.rows, dy.inverse, kGradient},
           {"w.transposed", w.transposed, w.inverse, kActivation}, "dx", dx, accumulate,
           Sum::Float);
}

void linear_backward_weight(Context& ctx, const Quantized& dy, const Quantized& x, const Tensor& dw,
                            Accumulate accumulate) {
  check_dtype("linear_backward_weight", "dw", dw, DType::F32);
  multiply("linear_backward_weight", ctx, {"dy.transposed", dy.transposed, dy.inverse, kGradient},
           {"x.transposed", x.transposed, x.inverse, kActivation}, "dw", dw, accumulate,
           Sum::Float);
}

int64_t fp8_workspace_bytes(const DeviceFacts& facts, DType dtype, int64_t num_rows,
                            int64_t width) {
  if (facts.kind == DeviceKind::Cuda) return 0;
  // Beside one result: the other of an activation's backward, or what the norm's asks for.
  const int64_t result = align_up(num_rows * width * size_of(dtype));
  return result + std::max(result, rms_norm_backward_workspace_bytes(facts, num_rows, width));
}

}  // namespace ingot
