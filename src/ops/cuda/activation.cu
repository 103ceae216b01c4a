#include "ops/kernels/activation.h"

#include "ops/cuda/activation.cuh"
#include "ops/cuda/common/lanes.cuh"

namespace ingot::cuda {
namespace {

constexpr int kThreads = 256;

__device__ __forceinline__ int64_t thread_index() {
  return static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
}

struct Silu {
  template <class T>
  static __device__ __forceinline__ Compute<T> forward(Compute<T> gate, Compute<T> up) {
    return swiglu<T>(gate, up);
  }
  template <class T>
  static __device__ __forceinline__ auto backward(Compute<T> dout, Compute<T> gate, Compute<T> up) {
    return swiglu_gradient<T>(dout, gate, up);
  }
};

// With a gate, and of one number.
struct Gelu {
  template <class T>
  static __device__ __forceinline__ Compute<T> forward(Compute<T> gate, Compute<T> up) {
    return gelu_curve<T>(gate).value * up;
  }
  template <class T>
  static __device__ __forceinline__ SwigluGradient<Compute<T>> backward(Compute<T> dout,
                                                                        Compute<T> gate,
                                                                        Compute<T> up) {
    const auto curve = gelu_curve<T>(gate);
    return {dout * up * curve.slope, dout * curve.value, curve.value * up};
  }
  template <class T>
  static __device__ __forceinline__ Compute<T> value(Compute<T> x) {
    return gelu_curve<T>(x).value;
  }
  template <class T>
  static __device__ __forceinline__ Compute<T> gradient(Compute<T> dout, Compute<T> x) {
    return dout * gelu_curve<T>(x).slope;
  }
};

struct ReluSquared {
  template <class T>
  static __device__ __forceinline__ Compute<T> value(Compute<T> x) {
    return relu_squared(x);
  }
  template <class T>
  static __device__ __forceinline__ Compute<T> gradient(Compute<T> dout, Compute<T> x) {
    return relu_squared_gradient(dout, x);
  }
};

// gate_up(N, 2F), out(N, F); a thread computes kWidth of out's `count` · kWidth elements, of which
// a row has `per_row` · kWidth.
template <class T, int kWidth, class Gate>
__global__ void __launch_bounds__(kThreads)
    gated_forward_kernel(const T* gate_up, T* out, int64_t count, int64_t per_row) {
  const int64_t index = thread_index();
  if (index >= count) return;
  const int64_t row = index / per_row;
  const T* gate = gate_up + (index + row * per_row) * kWidth;
  const Lanes<T, kWidth> g = load_lanes<kWidth>(gate);
  const Lanes<T, kWidth> u = load_lanes<kWidth>(gate + per_row * kWidth);
  Lanes<T, kWidth> result;
#pragma unroll
  for (int i = 0; i < kWidth; ++i) result.v[i] = Gate::template forward<T>(g.v[i], u.v[i]);
  store_lanes(out + index * kWidth, result);
}

// dout(N, F), gate_up(N, 2F), dgate_up(N, 2F), which may be gate_up, out(N, F), which may be dout:
// a thread writes where it read.
template <class T, int kWidth, class Gate>
__global__ void __launch_bounds__(kThreads)
    gated_backward_kernel(const T* dout, const T* gate_up, T* dgate_up, T* out, int64_t count,
                          int64_t per_row) {
  const int64_t index = thread_index();
  if (index >= count) return;
  const int64_t row = index / per_row;
  const int64_t gate = (index + row * per_row) * kWidth, up = gate + per_row * kWidth;
  const Lanes<T, kWidth> g = load_lanes<kWidth>(gate_up + gate);
  const Lanes<T, kWidth> u = load_lanes<kWidth>(gate_up + up);
  const Lanes<T, kWidth> dy = load_lanes<kWidth>(dout + index * kWidth);
  Lanes<T, kWidth> dg, du, again;
#pragma unroll
  for (int i = 0; i < kWidth; ++i) {
    const auto gradient = Gate::template backward<T>(dy.v[i], g.v[i], u.v[i]);
    dg.v[i] = gradient.dgate;
    du.v[i] = gradient.dup;
    again.v[i] = gradient.out;
  }
  store_lanes(dgate_up + gate, dg);
  store_lanes(dgate_up + up, du);
  store_lanes(out + index * kWidth, again);
}

// x and out: `count` · kWidth elements; out may be x.
template <class T, int kWidth, class Curve>
__global__ void __launch_bounds__(kThreads)
    pointwise_forward_kernel(const T* x, T* out, int64_t count) {
  const int64_t index = thread_index();
  if (index >= count) return;
  const Lanes<T, kWidth> in = load_lanes<kWidth>(x + index * kWidth);
  Lanes<T, kWidth> result;
#pragma unroll
  for (int i = 0; i < kWidth; ++i) result.v[i] = Curve::template value<T>(in.v[i]);
  store_lanes(out + index * kWidth, result);
}

// dout, x, dx and out: `count` · kWidth elements; dx may be x, out may be dout.
template <class T, int kWidth, class Curve>
__global__ void __launch_bounds__(kThreads)
    pointwise_backward_kernel(const T* dout, const T* x, T* dx, T* out, int64_t count) {
  const int64_t index = thread_index();
  if (index >= count) return;
  const Lanes<T, kWidth> in = load_lanes<kWidth>(x + index * kWidth);
  const Lanes<T, kWidth> dy = load_lanes<kWidth>(dout + index * kWidth);
  Lanes<T, kWidth> result, again;
#pragma unroll
  for (int i = 0; i < kWidth; ++i) {
    result.v[i] = Curve::template gradient<T>(dy.v[i], in.v[i]);
    again.v[i] = Curve::template value<T>(in.v[i]);
  }
  store_lanes(dx + index * kWidth, result);
  store_lanes(out + index * kWidth, again);
}

template <class T>
T* elements_of(const Tensor& tensor) {
  return static_cast<T*>(tensor.data);
}

template <class Gate>
void gated_forward(Context& ctx, const Tensor& gate_up, const Tensor& out) {
  with_device_type(out.dtype, [&](auto tag) {
    using T = decltype(tag);
    const T* in = elements_of<T>(gate_up);
    T* result = elements_of<T>(out);
    const int64_t F = out.shape[1];
    with_width<T>(fits_vec(in, F) && fits_vec(result, F), [&](auto width) {
      const int64_t count = out.numel() / width;
      launch({ctx, blocks_for(count, kThreads), kThreads}, gated_forward_kernel<T, width, Gate>, in,
             result, count, F / width);
    });
  });
}

template <class Gate>
void gated_backward(Context& ctx, const Tensor& dout, const Tensor& gate_up, const Tensor& dgate_up,
                    const Tensor& out) {
  with_device_type(dout.dtype, [&](auto tag) {
    using T = decltype(tag);
    const T* gradient = elements_of<T>(dout);
    const T* in = elements_of<T>(gate_up);
    T* result = elements_of<T>(dgate_up);
    T* again = elements_of<T>(out);
    const int64_t F = dout.shape[1];
    const bool fits =
        fits_vec(gradient, F) && fits_vec(in, F) && fits_vec(result, F) && fits_vec(again, F);
    with_width<T>(fits, [&](auto width) {
      const int64_t count = dout.numel() / width;
      launch({ctx, blocks_for(count, kThreads), kThreads}, gated_backward_kernel<T, width, Gate>,
             gradient, in, result, again, count, F / width);
    });
  });
}

template <class Curve>
void pointwise_forward(Context& ctx, const Tensor& x, const Tensor& out) {
  with_device_type(x.dtype, [&](auto tag) {
    using T = decltype(tag);
    const T* in = elements_of<T>(x);
    T* result = elements_of<T>(out);
    with_width<T>(fits_vec(in, x.numel()) && fits_vec(result, x.numel()), [&](auto width) {
      const int64_t count = x.numel() / width;
      launch({ctx, blocks_for(count, kThreads), kThreads},
             pointwise_forward_kernel<T, width, Curve>, in, result, count);
    });
  });
}

template <class Curve>
void pointwise_backward(Context& ctx, const Tensor& dout, const Tensor& x, const Tensor& dx,
                        const Tensor& out) {
  with_device_type(x.dtype, [&](auto tag) {
    using T = decltype(tag);
    const T* gradient = elements_of<T>(dout);
    const T* in = elements_of<T>(x);
    T* result = elements_of<T>(dx);
    T* again = elements_of<T>(out);
    const int64_t n = x.numel();
    const bool fits =
        fits_vec(gradient, n) && fits_vec(in, n) && fits_vec(result, n) && fits_vec(again, n);
    with_width<T>(fits, [&](auto width) {
      const int64_t count = n / width;
      launch({ctx, blocks_for(count, kThreads), kThreads},
             pointwise_backward_kernel<T, width, Curve>, gradient, in, result, again, count);
    });
  });
}

}  // namespace

#include "ops/kernels/activation_kernels.inc"

}  // namespace ingot::cuda
