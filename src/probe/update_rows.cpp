#include "probe/update_rows.h"

#include <cmath>

#include "ops/memory.h"

namespace ingot {
namespace {

// Row `row` of the memory.
Tensor place(const Tensor& memory, int row, DType dtype, const Shape& shape) {
  auto* data = static_cast<std::byte*>(memory.data) + row * kArenaAlignment;
  return Tensor::contiguous(data, dtype, shape, memory.device);
}

}  // namespace

UpdateScalars update_scalars_at(Context& ctx, const Tensor& memory, const UpdateAt& at) {
  UpdateValues values{};
  values[kGradScale] = at.grad_scale;
  values[kSkipped] = at.skipped ? 1.0 : 0.0;
  const UpdateScalars scalars{place(memory, 0, DType::F64, {kNumUpdateValues}),
                              place(memory, 1, DType::I64, {1})};
  copy_from_host(ctx, values.data(), scalars.values);
  copy_from_host(ctx, &at.step, scalars.count);
  return scalars;
}

AdamWStep adamw_step_at(Context& ctx, const Tensor& memory, AdamWStep settings,
                        const UpdateAt& at) {
  // One entry, which serves every step.
  const auto t = static_cast<double>(at.step);
  const double correction1 = 1.0 - std::pow(settings.beta1, t);
  const double root2 = std::sqrt(1.0 - std::pow(settings.beta2, t));
  settings.scalars = update_scalars_at(ctx, memory, at);
  settings.corrections1 = place(memory, 2, DType::F64, {1});
  settings.roots2 = place(memory, 3, DType::F64, {1});
  copy_from_host(ctx, &correction1, settings.corrections1);
  copy_from_host(ctx, &root2, settings.roots2);
  return settings;
}

}  // namespace ingot
