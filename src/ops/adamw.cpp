#include "ops/adamw.h"

#include "ops/checks.h"
#include "ops/cpu/adamw.h"

namespace ingot {

void adamw(Context& ctx, const AdamWStep& step, const Tensor& master, const Tensor& grad,
           const Tensor& m, const Tensor& v, const Tensor& weight) {
  constexpr const char* kOp = "adamw";
  check(step.step >= 1, ErrorCode::Internal, "adamw: steps count from 1, got {}", step.step);
  const Shape flat = {master.numel()};
  for (const Tensor* tensor : {&master, &grad, &m, &v}) {
    check_float(kOp, "state", *tensor);
    check_shape(kOp, "state", *tensor, flat);
    check_contiguous(kOp, "state", *tensor);
    check_dtype(kOp, "state", *tensor, wide_dtype(master.dtype));
  }
  const bool copies = weight.defined() && weight.data != master.data;
  if (copies) {
    check_float(kOp, "weight", weight);
    check_shape(kOp, "weight", weight, flat);
    check_contiguous(kOp, "weight", weight);
    if (master.dtype == DType::F64) check_dtype(kOp, "weight", weight, DType::F64);
  }
  INGOT_CPU_DISPATCH(adamw, ctx, step, master, grad, m, v, copies ? weight : Tensor{});
}

}  // namespace ingot
