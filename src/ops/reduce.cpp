#include "ops/reduce.h"

#include "ops/checks.h"
#include "ops/cpu/reduce.h"

namespace ingot {
namespace {

double sum_of(const char* op, Context& ctx, const Tensor& tensor, cpu::SumOf what) {
  check_float(op, "tensor", tensor);
  check_contiguous(op, "tensor", tensor);
  return INGOT_CPU_DISPATCH(sum_of, ctx, tensor, what);
}

bool is_float(DType dtype) {
  switch (dtype) {
    case DType::F64:
    case DType::F32:
    case DType::BF16:
    case DType::F16:
    case DType::F8E4M3:
    case DType::F8E5M2:
      return true;
    default:
      return false;
  }
}

}  // namespace

double sum_of_squares(Context& ctx, std::span<const Tensor> tensors) {
  double total = 0.0;
  for (const Tensor& tensor : tensors)
    total += sum_of("sum_of_squares", ctx, tensor, cpu::SumOf::Squares);
  return total;
}

double sum(Context& ctx, const Tensor& tensor) {
  return sum_of("sum", ctx, tensor, cpu::SumOf::Values);
}

void cast(Context& ctx, const Tensor& src, const Tensor& dst) {
  check(is_float(src.dtype) && is_float(dst.dtype), ErrorCode::Internal,
        "cast: expected two float types, got {} and {}", src, dst);
  check(src.numel() == dst.numel(), ErrorCode::Internal,
        "cast: expected equally many elements, got {} and {}", src, dst);
  for (const Tensor* tensor : {&src, &dst}) {
    check_contiguous("cast", "tensor", *tensor);
    check(tensor->device.kind == DeviceKind::Cpu, ErrorCode::Missing,
          "cast: a tensor is on {}, and this build has only CPU kernels", tensor->device);
  }
  INGOT_CPU_DISPATCH(cast, ctx, src, dst);
}

}  // namespace ingot
