#include "ops/kernels/bias.h"

#include "ops/cuda/column_sums.cuh"

namespace ingot::cuda {
namespace {

constexpr int kBiasThreads = 256;

// x(N, R) += bias(R); a thread has kWidth of the `count` · kWidth elements.
template <class T, int kWidth>
__global__ void __launch_bounds__(kBiasThreads)
    add_bias_kernel(T* x, const T* bias, int64_t count, int64_t per_row) {
  const int64_t index = static_cast<int64_t>(blockIdx.x) * kBiasThreads + threadIdx.x;
  if (index >= count) return;
  Lanes<T, kWidth> values = load_lanes<kWidth>(x + index * kWidth);
  const Lanes<T, kWidth> b = load_lanes<kWidth>(bias + index % per_row * kWidth);
#pragma unroll
  for (int i = 0; i < kWidth; ++i) values.v[i] += b.v[i];
  store_lanes(x + index * kWidth, values);
}

template <class T>
struct RowsOf {
  static constexpr int kSums = 1;

  template <int kWidth>
  __device__ __forceinline__ void add(int64_t row, int64_t column,
                                      Compute<T> (&sums)[1][kWidth]) const {
    const Lanes<T, kWidth> values = load_lanes<kWidth>(dy + row * R + column);
#pragma unroll
    for (int i = 0; i < kWidth; ++i) sums[0][i] += values.v[i];
  }

  const T* dy;  // (N, R)
  int64_t R;
};

}  // namespace

void add_bias(Context& ctx, const Tensor& x, const Tensor& bias) {
  if (x.numel() == 0) return;
  with_device_type(x.dtype, [&](auto tag) {
    using T = decltype(tag);
    T* const rows = static_cast<T*>(x.data);
    const T* const b = static_cast<const T*>(bias.data);
    const int64_t R = x.shape[1];
    with_width<T>(fits_vec(rows, R) && fits_vec(b, R), [&](auto width) {
      const int64_t count = x.numel() / width;
      launch({ctx, blocks_for(count, kBiasThreads), kBiasThreads}, add_bias_kernel<T, width>, rows,
             b, count, R / width);
    });
  });
}

void bias_gradient(Context& ctx, const Tensor& dy, const Tensor& dbias) {
  with_device_type(dy.dtype, [&](auto tag) {
    using T = decltype(tag);
    const T* const rows = static_cast<const T*>(dy.data);
    const int64_t R = dy.shape[1];
    add_column_sums<T>(ctx, RowsOf<T>{rows, R}, fits_vec(rows, R), dy.shape[0], {dbias});
  });
}

}  // namespace ingot::cuda
