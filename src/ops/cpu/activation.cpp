#include "ops/kernels/activation.h"

#include "ops/cpu/kernel.h"
#include "ops/cpu/simd.h"

namespace ingot::cpu::INGOT_ISA {

void swiglu_forward(Context& ctx, const Tensor& gate_up, const Tensor& out) {
  const int64_t N = out.shape[0], F = out.shape[1];
  with_float_type(out.dtype, [&](auto tag) {
    using T = decltype(tag);
    const T* in = gate_up.as<T>();  // (N, 2F)
    T* result = out.as<T>();        // (N, F)
    for_chunks(ctx, N, rows_per_task(2 * F), [&](int64_t begin, int64_t end) {
      for (int64_t n = begin; n < end; ++n) {
        const T* gate = in + n * 2 * F;
        const T* up = gate + F;
        T* row = result + n * F;
        for_each_vector<T>(F, [&](int64_t i, auto count) {
          const auto g = load_n(gate + i, count);
          store_n(row + i, g * sigmoid(g) * load_n(up + i, count), count);
        });
      }
    });
  });
}

void swiglu_backward(Context& ctx, const Tensor& dout, const Tensor& gate_up,
                     const Tensor& dgate_up, const Tensor& out) {
  const int64_t N = dout.shape[0], F = dout.shape[1];
  with_float_type(dout.dtype, [&](auto tag) {
    using T = decltype(tag);
    using A = Compute<T>;
    const T* gradient = dout.as<T>();  // (N, F)
    const T* in = gate_up.as<T>();     // (N, 2F)
    T* result = dgate_up.as<T>();      // (N, 2F)
    T* rebuilt = out.as<T>();          // (N, F)
    for_chunks(ctx, N, rows_per_task(2 * F), [&](int64_t begin, int64_t end) {
      for (int64_t n = begin; n < end; ++n) {
        const T* gate = in + n * 2 * F;
        const T* up = gate + F;
        const T* d = gradient + n * F;
        T* dgate = result + n * 2 * F;
        T* dup = dgate + F;
        T* again = rebuilt + n * F;
        for_each_vector<T>(F, [&](int64_t i, auto count) {
          const auto g = load_n(gate + i, count);
          const auto u = load_n(up + i, count);
          const auto dy = load_n(d + i, count);
          const auto s = sigmoid(g);
          const auto silu = g * s;
          // silu' = s + g·s·(1 - s)
          store_n(dgate + i, dy * u * fma(silu, A{1} - s, s), count);
          store_n(dup + i, dy * silu, count);
          store_n(again + i, silu * u, count);
        });
      }
    });
  });
}

void relu_squared_forward(Context& ctx, const Tensor& x, const Tensor& out) {
  with_float_type(x.dtype, [&](auto tag) {
    using T = decltype(tag);
    const T* in = x.as<T>();
    T* result = out.as<T>();
    for_chunks(ctx, x.numel(), kElementsPerTask, [&](int64_t begin, int64_t end) {
      for_each_vector<T>(end - begin, [&](int64_t i, auto count) {
        const auto r = max(VectorOf<T>{}, load_n(in + begin + i, count));
        store_n(result + begin + i, r * r, count);
      });
    });
  });
}

void relu_squared_backward(Context& ctx, const Tensor& dout, const Tensor& x, const Tensor& dx,
                           const Tensor& out) {
  with_float_type(x.dtype, [&](auto tag) {
    using T = decltype(tag);
    using A = Compute<T>;
    const T* in = x.as<T>();
    const T* gradient = dout.as<T>();
    T* result = dx.as<T>();
    T* rebuilt = out.as<T>();
    for_chunks(ctx, x.numel(), kElementsPerTask, [&](int64_t begin, int64_t end) {
      for_each_vector<T>(end - begin, [&](int64_t i, auto count) {
        const auto r = max(VectorOf<T>{}, load_n(in + begin + i, count));
        const auto dy = load_n(gradient + begin + i, count);
        store_n(result + begin + i, A{2} * r * dy, count);
        store_n(rebuilt + begin + i, r * r, count);
      });
    });
  });
}

}  // namespace ingot::cpu::INGOT_ISA

#include "core/isa_end.h"
