// Sums along rows and over rows, for norms. Included only by kernels, like simd.h.
#pragma once

#include "ops/cpu/kernel.h"
#include "ops/cpu/simd.h"

namespace ingot::cpu::INGOT_ISA {

// Σ term(i, count) over the row with four vectors in flight: a single one waits four cycles per
// add.
template <class T, class F>
INGOT_SIMD Compute<T> sum_of(int64_t n, const F& term) {
  constexpr int64_t L = kLanes<T>;
  VectorOf<T> s0{}, s1{}, s2{}, s3{};
  int64_t i = 0;
  const std::integral_constant<int64_t, L> whole;
  for (; i + 4 * L <= n; i += 4 * L) {
    s0 = term(i, whole, s0);
    s1 = term(i + L, whole, s1);
    s2 = term(i + 2 * L, whole, s2);
    s3 = term(i + 3 * L, whole, s3);
  }
  for (; i + L <= n; i += L) s0 = term(i, whole, s0);
  if (i < n) s0 = term(i, n - i, s0);
  return horizontal_sum((s0 + s1) + (s2 + s3));
}

// sums(C) += the rows of partials(num_partials, C), in order.
template <class A>
void add_partials(Context& ctx, const A* partials, int64_t num_partials, int64_t C, A* sums) {
  for_chunks(ctx, C, 64, [&](int64_t begin, int64_t end) {
    for (int64_t p = 0; p < num_partials; ++p)
      for_each_vector<A>(end - begin, [&](int64_t i, auto count) {
        A* sum = sums + begin + i;
        store_n(sum, load_n(sum, count) + load_n(partials + p * C + begin + i, count), count);
      });
  });
}

}  // namespace ingot::cpu::INGOT_ISA
