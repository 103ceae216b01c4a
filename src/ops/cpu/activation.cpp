#include "ops/kernels/activation.h"

#include "ops/cpu/kernel.h"
#include "ops/cpu/simd.h"

namespace ingot::cpu::INGOT_ISA {
namespace {

// A function of one number and its derivative, of vectors.
template <class V>
struct Curve {
  V value, slope;
};

struct Silu {
  template <class T>
  INGOT_SIMD static Curve<VectorOf<T>> at(VectorOf<T> x) {
    using A = Compute<T>;
    const auto s = sigmoid(x);
    const auto silu = x * s;
    return {silu, fma(silu, A{1} - s, s)};  // s + x·s·(1 - s)
  }
};

// (1 + tanh u)/2 is sigmoid(2u).
struct Gelu {
  template <class T>
  INGOT_SIMD static Curve<VectorOf<T>> at(VectorOf<T> x) {
    using A = Compute<T>;
    constexpr A kTwice = A(1.5957691216057308);  // 2·√(2/π)
    constexpr A kCubic = A(0.044715);
    const auto square = x * x;
    const auto s = sigmoid(kTwice * x * (A{1} + kCubic * square));
    const auto slope_of_u = kTwice * (A{1} + A{3} * kCubic * square);
    const auto gelu = x * s;
    return {gelu, fma(gelu * (A{1} - s), slope_of_u, s)};
  }
};

struct ReluSquared {
  template <class T>
  INGOT_SIMD static Curve<VectorOf<T>> at(VectorOf<T> x) {
    const auto r = max(VectorOf<T>{}, x);
    return {r * r, Compute<T>{2} * r};
  }
};

// out(N, F) = f(gate) · up of gate_up(N, 2F).
template <class F>
void gated_forward(Context& ctx, const Tensor& gate_up, const Tensor& out) {
  const int64_t N = out.shape[0], width = out.shape[1];
  with_float_type(out.dtype, [&](auto tag) {
    using T = decltype(tag);
    const T* in = gate_up.as<T>();  // (N, 2F)
    T* result = out.as<T>();        // (N, F)
    for_chunks(ctx, N, rows_per_task(2 * width), [&](int64_t begin, int64_t end) {
      for (int64_t n = begin; n < end; ++n) {
        const T* gate = in + n * 2 * width;
        const T* up = gate + width;
        T* row = result + n * width;
        for_each_vector<T>(width, [&](int64_t i, auto count) {
          const auto value = F::template at<T>(load_n(gate + i, count)).value;
          store_n(row + i, value * load_n(up + i, count), count);
        });
      }
    });
  });
}

template <class F>
void gated_backward(Context& ctx, const Tensor& dout, const Tensor& gate_up, const Tensor& dgate_up,
                    const Tensor& out) {
  const int64_t N = dout.shape[0], width = dout.shape[1];
  with_float_type(dout.dtype, [&](auto tag) {
    using T = decltype(tag);
    const T* gradient = dout.as<T>();  // (N, F)
    const T* in = gate_up.as<T>();     // (N, 2F)
    T* result = dgate_up.as<T>();      // (N, 2F)
    T* rebuilt = out.as<T>();          // (N, F)
    for_chunks(ctx, N, rows_per_task(2 * width), [&](int64_t begin, int64_t end) {
      for (int64_t n = begin; n < end; ++n) {
        const T* gate = in + n * 2 * width;
        const T* up = gate + width;
        const T* d = gradient + n * width;
        T* dgate = result + n * 2 * width;
        T* dup = dgate + width;
        T* again = rebuilt + n * width;
        for_each_vector<T>(width, [&](int64_t i, auto count) {
          const auto curve = F::template at<T>(load_n(gate + i, count));
          const auto u = load_n(up + i, count);
          const auto dy = load_n(d + i, count);
          store_n(dgate + i, dy * u * curve.slope, count);
          store_n(dup + i, dy * curve.value, count);
          store_n(again + i, curve.value * u, count);
        });
      }
    });
  });
}

template <class F>
void pointwise_forward(Context& ctx, const Tensor& x, const Tensor& out) {
  with_float_type(x.dtype, [&](auto tag) {
    using T = decltype(tag);
    const T* in = x.as<T>();
    T* result = out.as<T>();
    for_chunks(ctx, x.numel(), kElementsPerTask, [&](int64_t begin, int64_t end) {
      for_each_vector<T>(end - begin, [&](int64_t i, auto count) {
        const auto value = F::template at<T>(load_n(in + begin + i, count)).value;
        store_n(result + begin + i, value, count);
      });
    });
  });
}

template <class F>
void pointwise_backward(Context& ctx, const Tensor& dout, const Tensor& x, const Tensor& dx,
                        const Tensor& out) {
  with_float_type(x.dtype, [&](auto tag) {
    using T = decltype(tag);
    const T* in = x.as<T>();
    const T* gradient = dout.as<T>();
    T* result = dx.as<T>();
    T* rebuilt = out.as<T>();
    for_chunks(ctx, x.numel(), kElementsPerTask, [&](int64_t begin, int64_t end) {
      for_each_vector<T>(end - begin, [&](int64_t i, auto count) {
        const auto curve = F::template at<T>(load_n(in + begin + i, count));
        const auto dy = load_n(gradient + begin + i, count);
        store_n(result + begin + i, curve.slope * dy, count);
        store_n(rebuilt + begin + i, curve.value, count);
      });
    });
  });
}

}  // namespace

#include "ops/kernels/activation_kernels.inc"

}  // namespace ingot::cpu::INGOT_ISA

#include "core/device/isa_end.h"
