#include "ops/update/adamw.h"

#include "ops/common/checks.h"
#include "ops/common/dispatch.h"
#include "ops/kernels/adamw.h"

namespace ingot {
namespace {

constexpr const char* kOp = "adamw";

void check_operand(const Context& ctx, const char* name, const Tensor& tensor, int64_t n) {
  check_float(kOp, name, tensor);
  check_shape(kOp, name, tensor, {n});
  check_contiguous(kOp, name, tensor);
  runs_on_cuda(ctx, tensor);  // throws when it lies elsewhere
}

void check_tensors(const Context& ctx, const AdamWTensors& tensors) {
  const Tensor &master = tensors.master, &m = tensors.m, &weight = tensors.weight;
  const int64_t n = master.numel();
  const DType acc = accumulation_dtype(master.dtype);
  check_operand(ctx, "grad", tensors.grad, n);
  check_dtype(kOp, "grad", tensors.grad, acc);
  const bool narrow = m.dtype == DType::BF16 && acc == DType::F32;
  for (const Tensor* moment : {&m, &tensors.v}) {
    check_operand(ctx, "moment", *moment, n);
    check_dtype(kOp, "moment", *moment, narrow ? DType::BF16 : acc);
  }
  if (master.dtype == DType::U16) {
    check_contiguous(kOp, "master", master);
    runs_on_cuda(ctx, master);
    check_operand(ctx, "weight", weight, n);
    return check_dtype(kOp, "weight", weight, DType::BF16);
  }
  check_operand(ctx, "master", master, n);
  check_dtype(kOp, "master", master, acc);
  if (!weight.defined()) return;
  check_operand(ctx, "weight", weight, n);
  check_dtype(kOp, "master", master, accumulation_dtype(weight.dtype));
}

}  // namespace

void adamw(Context& ctx, const AdamWStep& step, std::span<const AdamWTensors> tensors) {
  check_update_scalars(kOp, ctx, step.scalars);
  for (const Tensor* table : {&step.corrections1, &step.roots2}) {
    check_rank(kOp, "bias corrections", *table, 1);
    check_dtype(kOp, "bias corrections", *table, DType::F64);
    check_contiguous(kOp, "bias corrections", *table);
    runs_on_cuda(ctx, *table);
    check(table->numel() > 0, ErrorCode::Internal, "adamw: expected bias corrections, got none");
  }
  for (const AdamWTensors& one : tensors) check_tensors(ctx, one);
  if (ctx.device.kind == DeviceKind::Cuda) {
    for (const AdamWTensors& one : tensors) {  // one launch has one type of states
      check_dtype(kOp, "master", one.master, tensors[0].master.dtype);
      check_dtype(kOp, "moment", one.m, tensors[0].m.dtype);
    }
    return cuda::adamw(ctx, step, tensors);
  }
  for (const AdamWTensors& one : tensors) INGOT_CPU_DISPATCH(adamw, ctx, step, one);
}

}  // namespace ingot
