#include "ops/cpu/adamw.h"

#include <cmath>

#include "ops/cpu/kernel.h"
#include "ops/cpu/simd.h"

namespace ingot::cpu::INGOT_ISA {
namespace {

// A: the type of the states. W: of the compute copy, or void for none.
template <class A, class W>
void update(Context& ctx, const AdamWStep& step, const AdamWTensors& tensors, W* weight) {
  // The order of operations is that of torch.optim.AdamW, scalars rounded to A where torch does, so
  // that runs can be compared step for step.
  const double count = static_cast<double>(step.step);
  const double correction1 = 1.0 - std::pow(step.beta1, count);
  const double correction2 = 1.0 - std::pow(step.beta2, count);
  const A keep = static_cast<A>(1.0 - step.lr * tensors.weight_decay);
  const A mix = static_cast<A>(1.0 - step.beta1);
  const A beta2 = static_cast<A>(step.beta2);
  const A square_mix = static_cast<A>(1.0 - step.beta2);
  const A root2 = static_cast<A>(std::sqrt(correction2));
  const A eps = static_cast<A>(step.eps);
  const A negative_rate = static_cast<A>(-step.lr / correction1);
  const A grad_scale = static_cast<A>(step.grad_scale);
  A* ps = tensors.master.as<A>();
  const A* gs = tensors.grad.as<A>();
  A* ms = tensors.m.as<A>();
  A* vs = tensors.v.as<A>();
  for_chunks(ctx, tensors.master.numel(), kElementsPerTask, [&](int64_t begin, int64_t end) {
    for_each_vector<A>(end - begin, [&](int64_t offset, auto n) {
      const int64_t i = begin + offset;
      const auto g = load_n(gs + i, n) * grad_scale;
      const auto old_m = load_n(ms + i, n);
      const auto new_m = fma(broadcast<A>(mix), g - old_m, old_m);
      const auto new_v = fma(g * square_mix, g, load_n(vs + i, n) * beta2);
      const auto denominator = sqrt(new_v) / root2 + eps;
      const auto p = load_n(ps + i, n) * keep + new_m * negative_rate / denominator;
      store_n(ms + i, new_m, n);
      store_n(vs + i, new_v, n);
      store_n(ps + i, p, n);
      if constexpr (!std::is_void_v<W>) store_n(weight + i, p, n);
    });
  });
}

}  // namespace

void adamw(Context& ctx, const AdamWStep& step, const AdamWTensors& tensors) {
  const Tensor &master = tensors.master, &weight = tensors.weight;
  auto run = [&]<class W>(W* copy) {
    if (master.dtype == DType::F64) {
      if constexpr (std::is_void_v<W> || std::is_same_v<W, double>)
        update<double, W>(ctx, step, tensors, copy);
    } else {
      if constexpr (!std::is_same_v<W, double>) update<float, W>(ctx, step, tensors, copy);
    }
  };
  if (!weight.defined() || weight.data == master.data) return run(static_cast<void*>(nullptr));
  with_float_type(weight.dtype, [&](auto tag) { run(weight.as<decltype(tag)>()); });
}

}  // namespace ingot::cpu::INGOT_ISA
