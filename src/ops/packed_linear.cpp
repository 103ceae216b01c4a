#include "ops/packed_linear.h"

#include "core/tensor/q8_0.h"
#include "ops/common/checks.h"
#include "ops/common/dispatch.h"
#include "ops/kernels/packed_linear.h"

namespace ingot {
namespace {

void check_weight(const char* op, const Context& ctx, const PackedWeight& w) {
  check(ctx.device.kind == DeviceKind::Cpu, ErrorCode::Internal,
        "{}: packed weights are for the CPU, got a context on {}", op, ctx.device);
  check_dtype(op, "w", w.bytes, DType::U8);
  check_shape(op, "w", w.bytes, {packed_bytes(w.format, w.rows, w.cols)});
  check_contiguous(op, "w", w.bytes);
}

// (n, cols) F32 with a contiguous last dim; returns n.
int64_t check_rows(const char* op, const char* name, const Tensor& rows, int64_t cols) {
  check_float(op, name, rows);
  check_dtype(op, name, rows, DType::F32);
  check_rank(op, name, rows, 2);
  check_shape(op, name, rows, {rows.shape[0], cols});
  return rows.shape[0];
}

}  // namespace

void pack_rows(Context& ctx, const Tensor& rows, int64_t first_row, const PackedWeight& w) {
  check_weight("pack_rows", ctx, w);
  const int64_t n = check_rows("pack_rows", "rows", rows, w.cols);
  check(first_row >= 0 && first_row + n <= w.rows, ErrorCode::Internal,
        "pack_rows: rows {} to {} are not among {}", first_row, first_row + n - 1, w.rows);
  check(INGOT_DOT_DISPATCH(pack_weights, ctx, rows, first_row, w), ErrorCode::Data,
        "a weight is too large for q8_0, whose scales have 16 bits: use bf16 or f32");
}

void unpack_rows(Context& ctx, const PackedWeight& w, const Tensor& ids, const Tensor& y) {
  check_weight("unpack_rows", ctx, w);
  const int64_t n = check_rows("unpack_rows", "y", y, w.cols);
  check_dtype("unpack_rows", "ids", ids, DType::I32);
  check_shape("unpack_rows", "ids", ids, {n});
  check_contiguous("unpack_rows", "ids", ids);
  for (int64_t i = 0; i < n; ++i) {
    const int32_t id = ids.as<int32_t>()[i];
    check(id >= 0 && id < w.rows, ErrorCode::Data, "id {} at {}: expected 0 to {}", id, i,
          w.rows - 1);
  }
  INGOT_DOT_DISPATCH(unpack_weights, ctx, w, ids.as<int32_t>(), y);
}

void packed_linear_forward(Context& ctx, const Tensor& x, const PackedWeight& w, const Tensor& y,
                           const Tensor& addend) {
  constexpr const char* kOp = "packed_linear_forward";
  check_weight(kOp, ctx, w);
  const int64_t N = check_rows(kOp, "x", x, w.cols);
  check(check_rows(kOp, "y", y, w.rows) == N, ErrorCode::Internal,
        "{}: expected as many rows of y as of x, got {} and {}", kOp, y, x);
  if (N == 0 || w.rows == 0) return;
  cpu::PackedGemm gemm{.w = w,
                       .N = N,
                       .x = x.as<float>(),
                       .x_stride = x.strides[0],
                       .y = y.as<float>(),
                       .y_stride = y.strides[0]};
  if (addend.defined()) {
    check_rows(kOp, "addend", addend, w.rows);
    check_shape(kOp, "addend", addend, y.shape);
    gemm.addend = addend.as<float>();
    gemm.addend_stride = addend.strides[0];
  }
  const Workspace::Scope scope(ctx.workspace);
  gemm.scratch = static_cast<std::byte*>(
      ctx.workspace.take(DType::U8, {packed_linear_workspace_bytes(w.format, N, w.cols)}).data);
  INGOT_DOT_DISPATCH(packed_gemm, ctx, gemm);
}

int64_t packed_linear_workspace_bytes(WeightFormat format, int64_t N, int64_t cols) {
  // The last group of rows is padded by up to 3.
  const int64_t rows = N + 3;
  // Q8_0: blocks of 16 words of two 16-bit codes, a scale and a sum.
  constexpr int64_t kWord = 4, kBlockWords = 18;
  const int64_t words = format == WeightFormat::Q8_0 ? cols / kQ8Block * kBlockWords : cols + 1;
  return align_up(rows * words * kWord);
}

}  // namespace ingot
