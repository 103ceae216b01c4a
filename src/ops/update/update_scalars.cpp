#include "ops/update/update_scalars.h"

#include <algorithm>

#include "ops/common/checks.h"
#include "ops/common/dispatch.h"
#include "ops/kernels/update_scalars.h"

namespace ingot {
namespace {

class CpuUpdateReader final : public UpdateReader {
 public:
  void issue(const UpdateScalars& scalars) override {
    std::copy_n(scalars.values.as<double>(), kNumUpdateValues, values_.begin());
  }
  UpdateValues read() override { return values_; }

 private:
  UpdateValues values_{};
};

}  // namespace

void check_update_scalars(const char* op, const Context& ctx, const UpdateScalars& scalars) {
  check_dtype(op, "scalars", scalars.values, DType::F64);
  check_shape(op, "scalars", scalars.values, {kNumUpdateValues});
  check_dtype(op, "count", scalars.count, DType::I64);
  check_shape(op, "count", scalars.count, {1});
  runs_on_cuda(ctx, scalars.values);  // throws when it lies elsewhere
  runs_on_cuda(ctx, scalars.count);
}

void decide_update(Context& ctx, const ClipRule& rule, const UpdateScalars& scalars) {
  check_update_scalars("decide_update", ctx, scalars);
  if (ctx.device.kind == DeviceKind::Cuda) return cuda::decide_update(ctx, rule, scalars);
  decide(rule, scalars.values.as<double>(), scalars.count.as<int64_t>());
}

std::unique_ptr<UpdateReader> make_update_reader(Context& ctx) {
  if (ctx.device.kind == DeviceKind::Cuda) return cuda::make_update_reader(ctx);
  return std::make_unique<CpuUpdateReader>();
}

}  // namespace ingot
