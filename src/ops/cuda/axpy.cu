#include "ops/kernels/axpy.h"

#include "ops/cuda/common/lanes.cuh"

namespace ingot::cuda {
namespace {

constexpr int kThreads = 256;

// `count` · kWidth elements each; y may be null, out may be x or y.
template <class T, int kWidth>
__global__ void __launch_bounds__(kThreads)
    axpy_kernel(Compute<T> factor, const T* x, const T* y, T* out, int64_t count) {
  const int64_t index = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (index >= count) return;
  Lanes<T, kWidth> values = load_lanes<kWidth>(x + index * kWidth), added = {};
  if (y != nullptr) added = load_lanes<kWidth>(y + index * kWidth);
#pragma unroll
  for (int i = 0; i < kWidth; ++i) values.v[i] = factor * values.v[i] + added.v[i];
  store_lanes(out + index * kWidth, values);
}

}  // namespace

void axpy(Context& ctx, double factor, const Tensor& x, const Tensor& y, const Tensor& out) {
  if (x.numel() == 0) return;
  with_device_type(x.dtype, [&](auto tag) {
    using T = decltype(tag);
    const T* const xs = static_cast<const T*>(x.data);
    const T* const ys = static_cast<const T*>(y.data);
    T* const result = static_cast<T*>(out.data);
    const int64_t n = x.numel();
    with_width<T>(fits_vec(xs, n) && fits_vec(ys, n) && fits_vec(result, n), [&](auto width) {
      const int64_t count = n / width;
      launch({ctx, blocks_for(count, kThreads), kThreads}, axpy_kernel<T, width>,
             static_cast<Compute<T>>(factor), xs, ys, result, count);
    });
  });
}

}  // namespace ingot::cuda
