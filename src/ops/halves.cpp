#include "ops/halves.h"

#include "ops/common/checks.h"
#include "ops/common/dispatch.h"
#include "ops/kernels/halves.h"

namespace ingot {
namespace {

void check_halves(const char* op, const Context& ctx, const Tensor& exact, const Tensor& high,
                  const Tensor& low) {
  const Shape shape = {exact.numel()};
  const auto check_one = [&](const char* name, const Tensor& tensor, DType dtype) {
    check_dtype(op, name, tensor, dtype);
    check_shape(op, name, tensor, shape);
    check_contiguous(op, name, tensor);
    runs_on_cuda(ctx, tensor);  // throws when it lies elsewhere
  };
  check_one("exact", exact, DType::F32);
  check_one("high", high, DType::BF16);
  check_one("low", low, DType::U16);
}

}  // namespace

void split_halves(Context& ctx, const Tensor& exact, const Tensor& high, const Tensor& low) {
  check_halves("split_halves", ctx, exact, high, low);
  INGOT_DISPATCH(exact, split_halves, ctx, exact, high, low);
}

void join_halves(Context& ctx, const Tensor& high, const Tensor& low, const Tensor& exact) {
  check_halves("join_halves", ctx, exact, high, low);
  INGOT_DISPATCH(exact, join_halves, ctx, high, low, exact);
}

}  // namespace ingot
