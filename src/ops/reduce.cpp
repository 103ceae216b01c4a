#include "ops/reduce.h"

#include <utility>

#include "ops/checks.h"
#include "ops/dispatch.h"
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

double sum_of(const char* op, Context& ctx, std::span<const Tensor> tensors, cpu::SumOf what) {
  for (const Tensor& tensor : tensors) check_summand(op, ctx, tensor);
  // All in one call there: each answer would be waited for.
  if (ctx.device.kind == DeviceKind::Cuda) return cuda::sum_of(ctx, tensors, what);
  double total = 0.0;
  for (const Tensor& tensor : tensors) total += INGOT_CPU_DISPATCH(sum_of, ctx, tensor, what);
  return total;
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

double sum_of_squares(Context& ctx, std::span<const Tensor> tensors) {
  return sum_of("sum_of_squares", ctx, tensors, cpu::SumOf::Squares);
}

double sum(Context& ctx, const Tensor& tensor) {
  return sum_of("sum", ctx, {&tensor, 1}, cpu::SumOf::Values);
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
