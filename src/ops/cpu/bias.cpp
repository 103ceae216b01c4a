#include "ops/kernels/bias.h"

#include "ops/cpu/kernel.h"
#include "ops/cpu/simd.h"

namespace ingot::cpu::INGOT_ISA {

void add_bias(Context& ctx, const Tensor& x, const Tensor& bias) {
  const int64_t N = x.shape[0], R = x.shape[1];
  with_float_type(x.dtype, [&](auto tag) {
    using T = decltype(tag);
    T* rows = x.as<T>();        // (N, R)
    const T* b = bias.as<T>();  // (R)
    for_chunks(ctx, N, rows_per_task(R), [&](int64_t begin, int64_t end) {
      for (int64_t n = begin; n < end; ++n) {
        T* row = rows + n * R;
        for_each_vector<T>(R, [&](int64_t i, auto count) {
          store_n(row + i, load_n(row + i, count) + load_n(b + i, count), count);
        });
      }
    });
  });
}

// A task owns a slice of columns and walks all rows in order, as embedding_backward() does.
void bias_gradient(Context& ctx, const Tensor& dy, const Tensor& dbias) {
  constexpr int64_t kColumnsPerTask = 64;
  const int64_t N = dy.shape[0], R = dy.shape[1];
  with_float_type(dy.dtype, [&](auto tag) {
    using T = decltype(tag);
    using A = Compute<T>;
    const T* from = dy.as<T>();  // (N, R)
    A* to = dbias.as<A>();       // (R)
    for_chunks(ctx, R, kColumnsPerTask, [&](int64_t begin, int64_t end) {
      A sums[kColumnsPerTask] = {};
      for (int64_t n = 0; n < N; ++n) {
        const T* row = from + n * R + begin;
        for_each_vector<A>(end - begin, [&](int64_t i, auto count) {
          store_n(sums + i, load_n(sums + i, count) + load_n(row + i, count), count);
        });
      }
      for (int64_t i = begin; i < end; ++i) to[i] += sums[i - begin];
    });
  });
}

}  // namespace ingot::cpu::INGOT_ISA

#include "core/device/isa_end.h"
