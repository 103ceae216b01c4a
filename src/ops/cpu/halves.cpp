#include "ops/kernels/halves.h"

#include "ops/cpu/kernel.h"
#include "ops/cpu/simd.h"

namespace ingot::cpu::INGOT_ISA {

void split_halves(Context& ctx, const Tensor& exact, const Tensor& high, const Tensor& low) {
  const float* from = exact.as<float>();
  Bf16* highs = high.as<Bf16>();
  auto* lows = low.as<uint16_t>();
  for_chunks(ctx, exact.numel(), kElementsPerTask, [&](int64_t begin, int64_t end) {
    for_each_vector<float>(end - begin, [&](int64_t offset, auto n) {
      const int64_t i = begin + offset;
      store_halves(highs + i, lows + i, load_n(from + i, n), n);
    });
  });
}

void join_halves(Context& ctx, const Tensor& high, const Tensor& low, const Tensor& exact) {
  const Bf16* highs = high.as<Bf16>();
  const auto* lows = low.as<uint16_t>();
  float* to = exact.as<float>();
  for_chunks(ctx, exact.numel(), kElementsPerTask, [&](int64_t begin, int64_t end) {
    for_each_vector<float>(end - begin, [&](int64_t offset, auto n) {
      const int64_t i = begin + offset;
      store_n(to + i, load_halves(highs + i, lows + i, n), n);
    });
  });
}

}  // namespace ingot::cpu::INGOT_ISA

#include "core/device/isa_end.h"
