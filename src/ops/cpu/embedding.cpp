#include "ops/kernels/embedding.h"

#include <cstring>

#include "ops/cpu/kernel.h"
#include "ops/cpu/simd.h"

namespace ingot::cpu::INGOT_ISA {

void embedding_forward(Context& ctx, const Tensor& tokens, const Tensor& table, const Tensor& out) {
  const int64_t N = out.shape[0], C = out.shape[1];
  const int64_t row_bytes = C * size_of(out.dtype);
  const int32_t* ids = tokens.as<int32_t>();                // (N)
  const char* from = static_cast<const char*>(table.data);  // (V, C)
  char* to = static_cast<char*>(out.data);                  // (N, C)
  for_chunks(ctx, N, rows_per_task(C), [&](int64_t begin, int64_t end) {
    for (int64_t n = begin; n < end; ++n)
      std::memcpy(to + n * row_bytes, from + ids[n] * row_bytes, static_cast<size_t>(row_bytes));
  });
}

void embedding_add(Context& ctx, const Tensor& tokens, const Tensor& table, const Tensor& out) {
  const int64_t N = out.shape[0], C = out.shape[1];
  const int32_t* ids = tokens.as<int32_t>();  // (N)
  with_float_type(out.dtype, [&](auto tag) {
    using T = decltype(tag);
    const T* from = table.as<T>();  // (V, C)
    T* to = out.as<T>();            // (N, C)
    for_chunks(ctx, N, rows_per_task(C), [&](int64_t begin, int64_t end) {
      for (int64_t n = begin; n < end; ++n) {
        const T* row = from + ids[n] * C;
        T* sum = to + n * C;
        for_each_vector<T>(C, [&](int64_t i, auto count) {
          store_n(sum + i, load_n(sum + i, count) + load_n(row + i, count), count);
        });
      }
    });
  });
}

// A task owns a slice of columns and walks all tokens in order: no two tasks touch the same
// element, nothing is sorted, and hot tokens (bytes are Zipf-distributed) unbalance nothing. Slices
// are four cache lines of F32, so that fetching them costs no more than fetching rows.
void embedding_backward(Context& ctx, const Tensor& tokens, const Tensor& dout,
                        const Tensor& dtable) {
  constexpr int64_t kColumnsPerTask = 64;
  const int64_t N = dout.shape[0], C = dout.shape[1];
  const int32_t* ids = tokens.as<int32_t>();
  with_float_type(dout.dtype, [&](auto tag) {
    using T = decltype(tag);
    using A = Compute<T>;
    const T* from = dout.as<T>();  // (N, C)
    A* to = dtable.as<A>();        // (V, C)
    for_chunks(ctx, C, kColumnsPerTask, [&](int64_t begin, int64_t end) {
      for (int64_t n = 0; n < N; ++n) {
        const T* row = from + n * C + begin;
        A* sum = to + ids[n] * C + begin;
        for_each_vector<A>(end - begin, [&](int64_t i, auto count) {
          store_n(sum + i, load_n(sum + i, count) + load_n(row + i, count), count);
        });
      }
    });
  });
}

}  // namespace ingot::cpu::INGOT_ISA

#include "core/device/isa_end.h"
