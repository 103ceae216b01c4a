#include "ops/kernels/axpy.h"

#include "ops/cpu/kernel.h"
#include "ops/cpu/simd.h"

namespace ingot::cpu::INGOT_ISA {

void axpy(Context& ctx, double factor, const Tensor& x, const Tensor& y, const Tensor& out) {
  with_float_type(x.dtype, [&](auto tag) {
    using T = decltype(tag);
    const auto scale = broadcast<T>(static_cast<Compute<T>>(factor));
    const T* xs = x.as<T>();
    const T* ys = y.defined() ? y.as<T>() : nullptr;
    T* result = out.as<T>();
    for_chunks(ctx, x.numel(), kElementsPerTask, [&](int64_t begin, int64_t end) {
      for_each_vector<T>(end - begin, [&](int64_t i, auto count) {
        const int64_t at = begin + i;
        const auto scaled = scale * load_n(xs + at, count);
        store_n(result + at, ys == nullptr ? scaled : scaled + load_n(ys + at, count), count);
      });
    });
  });
}

}  // namespace ingot::cpu::INGOT_ISA

#include "core/device/isa_end.h"
