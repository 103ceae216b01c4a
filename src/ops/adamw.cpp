#include "ops/adamw.h"

#include "ops/checks.h"
#include "ops/cpu/adamw.h"
#include "ops/cuda/adamw.h"
#include "ops/dispatch.h"

namespace ingot {
namespace {

constexpr const char* kOp = "adamw";

void check_tensors(const Context& ctx, const AdamWTensors& tensors) {
  const auto& [master, grad, m, v, weight, weight_decay] = tensors;
  const Shape flat = {master.numel()};
  for (const Tensor* tensor : {&master, &grad, &m, &v}) {
    check_float(kOp, "state", *tensor);
    check_shape(kOp, "state", *tensor, flat);
    check_contiguous(kOp, "state", *tensor);
    check_dtype(kOp, "state", *tensor, wide_dtype(master.dtype));
    runs_on_cuda(ctx, *tensor);  // throws when it lies elsewhere
  }
  if (!weight.defined()) return;
  runs_on_cuda(ctx, weight);
  check_float(kOp, "weight", weight);
  check_shape(kOp, "weight", weight, flat);
  check_contiguous(kOp, "weight", weight);
  if (master.dtype == DType::F64) check_dtype(kOp, "weight", weight, DType::F64);
}

}  // namespace

void adamw(Context& ctx, const AdamWStep& step, std::span<const AdamWTensors> tensors) {
  check(step.step >= 1, ErrorCode::Internal, "adamw: steps count from 1, got {}", step.step);
  for (const AdamWTensors& one : tensors) check_tensors(ctx, one);
  if (ctx.device.kind == DeviceKind::Cuda) {
    for (const AdamWTensors& one : tensors)  // one launch has one type of state
      check_dtype(kOp, "master", one.master, tensors[0].master.dtype);
    return cuda::adamw(ctx, step, tensors);
  }
  for (const AdamWTensors& one : tensors) INGOT_CPU_DISPATCH(adamw, ctx, step, one);
}

}  // namespace ingot
