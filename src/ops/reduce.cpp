#include "ops/reduce.h"

#include <utility>

#include "ops/common/checks.h"
#include "ops/common/dispatch.h"
#include "ops/kernels/reduce.h"

namespace ingot {
namespace {

void check_summand(const char* op, const Context& ctx, const Tensor& tensor) {
  check(tensor.dtype != DType::F16, ErrorCode::Internal,
        "{}: tensor must be f64, f32 or bf16, got {}", op, tensor);
  check_float(op, "tensor", tensor);
  check_contiguous(op, "tensor", tensor);
  runs_on_cuda(ctx, tensor);  // throws when it lies elsewhere
}

class CpuRunningSum final : public RunningSum {
 public:
  explicit CpuRunningSum(Context& ctx) : RunningSum(ctx) {}
  double take() override { return std::exchange(total_, 0.0); }
  void reset() override { total_ = 0.0; }

 private:
  void add_checked(const Tensor& tensor) override {
    total_ += INGOT_CPU_DISPATCH(sum_of, ctx_, tensor, cpu::SumOf::Values);
  }
  double total_ = 0.0;
};

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

void sum_of_squares(Context& ctx, std::span<const Tensor> tensors, const Tensor& total) {
  constexpr const char* kOp = "sum_of_squares";
  for (const Tensor& tensor : tensors) check_summand(kOp, ctx, tensor);
  check_dtype(kOp, "total", total, DType::F64);
  check_shape(kOp, "total", total, {1});
  if (runs_on_cuda(ctx, total)) return cuda::sum_of_squares(ctx, tensors, total);
  double sum = 0.0;
  for (const Tensor& tensor : tensors)
    sum += INGOT_CPU_DISPATCH(sum_of, ctx, tensor, cpu::SumOf::Squares);
  *total.as<double>() = sum;
}

double sum(Context& ctx, const Tensor& tensor) {
  check_summand("sum", ctx, tensor);
  if (ctx.device.kind == DeviceKind::Cuda) return cuda::sum(ctx, tensor);
  return INGOT_CPU_DISPATCH(sum_of, ctx, tensor, cpu::SumOf::Values);
}

void RunningSum::add(const Tensor& tensor) {
  check_summand("running sum", ctx_, tensor);
  add_checked(tensor);
}

std::unique_ptr<RunningSum> make_running_sum(Context& ctx) {
  if (ctx.device.kind == DeviceKind::Cuda) return cuda::make_running_sum(ctx);
  return std::make_unique<CpuRunningSum>(ctx);
}

void cast(Context& ctx, const Tensor& src, const Tensor& dst) {
  check(is_float(src.dtype) && is_float(dst.dtype), ErrorCode::Internal,
        "cast: expected two float types, got {} and {}", src, dst);
  check(src.numel() == dst.numel(), ErrorCode::Internal,
        "cast: expected equally many elements, got {} and {}", src, dst);
  check_contiguous("cast", "src", src);
  check_contiguous("cast", "dst", dst);
  check(src.device == dst.device, ErrorCode::Internal,
        "cast: expected tensors on one device, got {} and {}", src, dst);
  INGOT_DISPATCH(dst, cast, ctx, src, dst);
}

}  // namespace ingot
