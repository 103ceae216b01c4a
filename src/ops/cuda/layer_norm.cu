#include "ops/kernels/layer_norm.h"

#include "ops/cuda/column_sums.cuh"

namespace ingot::cuda {
namespace {

// A warp has a row and reads it as often as it needs: what it reads again is in the L1.
constexpr int kNormThreads = 256;
constexpr int kNormWarps = kNormThreads / kWarp;

__device__ __forceinline__ int64_t row_of_warp() {
  return static_cast<int64_t>(blockIdx.x) * kNormWarps + threadIdx.x / kWarp;
}

// Σ over the row of term(column, sum).
template <int kWidth, class A, class F>
__device__ __forceinline__ A row_sum(int64_t C, const F& term) {
  A sum = 0;
  for (int64_t column = threadIdx.x % kWarp * kWidth; column < C; column += kWarp * kWidth)
    term(column, sum);
  return warp_sum(sum);
}

template <class T, int kWidth>
__device__ __forceinline__ Compute<T> row_mean(const T* x, int64_t C) {
  using A = Compute<T>;
  const A sum = row_sum<kWidth, A>(C, [&](int64_t column, A& s) {
    const Lanes<T, kWidth> v = load_lanes<kWidth>(x + column);
#pragma unroll
    for (int i = 0; i < kWidth; ++i) s += v.v[i];
  });
  return sum / static_cast<A>(C);
}

// One expression for the forward and for what builds its y again.
template <class A>
__device__ __forceinline__ A normed(A x, A mean, A rstd, A weight, A bias) {
  return fma((x - mean) * rstd, weight, bias);
}

template <class T>
struct ForwardRows {
  const T *x, *weight, *bias;
  T* y;
  Compute<T>* rstd;
  int64_t N, C, x_stride, y_stride;
  Compute<T> eps;
};

template <class T, int kWidth>
__global__ void __launch_bounds__(kNormThreads) forward_rows(ForwardRows<T> n) {
  using A = Compute<T>;
  const int64_t row = row_of_warp();
  if (row >= n.N) return;
  const T* x = n.x + row * n.x_stride;
  T* y = n.y + row * n.y_stride;
  const A mean = row_mean<T, kWidth>(x, n.C);
  const A squares = row_sum<kWidth, A>(n.C, [&](int64_t column, A& s) {
    const Lanes<T, kWidth> v = load_lanes<kWidth>(x + column);
#pragma unroll
    for (int i = 0; i < kWidth; ++i) s += (v.v[i] - mean) * (v.v[i] - mean);
  });
  const A rstd = rsqrt(squares / static_cast<A>(n.C) + n.eps);
  if (threadIdx.x % kWarp == 0) n.rstd[row] = rstd;
  for (int64_t column = threadIdx.x % kWarp * kWidth; column < n.C; column += kWarp * kWidth) {
    Lanes<T, kWidth> v = load_lanes<kWidth>(x + column);
    const Lanes<T, kWidth> w = load_lanes<kWidth>(n.weight + column);
    const Lanes<T, kWidth> b = load_lanes<kWidth>(n.bias + column);
#pragma unroll
    for (int i = 0; i < kWidth; ++i) v.v[i] = normed(v.v[i], mean, rstd, w.v[i], b.v[i]);
    store_lanes(y + column, v);
  }
}

template <class T>
struct BackwardRows {
  const T *dy, *x, *weight, *bias;
  const Compute<T>* rstd;
  T *dx, *y;         // y: null, or where the forward's output is built again
  Compute<T>* mean;  // (N), which mean_rows leaves
  int64_t N, C, dy_stride, x_stride, dx_stride, y_stride;
  bool accumulate;
};

template <class T, int kWidth>
__global__ void __launch_bounds__(kNormThreads) mean_rows(BackwardRows<T> n) {
  const int64_t row = row_of_warp();
  if (row >= n.N) return;
  const Compute<T> mean = row_mean<T, kWidth>(n.x + row * n.x_stride, n.C);
  if (threadIdx.x % kWarp == 0) n.mean[row] = mean;
}

// x̂ = (x - mean)·rstd; dx = rstd·(dy·w - Σ dy·w/C - x̂·Σ dy·w·x̂/C)
template <class T, int kWidth>
__global__ void __launch_bounds__(kNormThreads) backward_rows(BackwardRows<T> n) {
  using A = Compute<T>;
  const int64_t row = row_of_warp();
  if (row >= n.N) return;
  const T* x = n.x + row * n.x_stride;
  const T* dy = n.dy + row * n.dy_stride;
  T* dx = n.dx + row * n.dx_stride;
  const A mean = n.mean[row], rstd = n.rstd[row];
  A dot = 0;
  const A sum = row_sum<kWidth, A>(n.C, [&](int64_t column, A& s) {
    const Lanes<T, kWidth> v = load_lanes<kWidth>(x + column), g = load_lanes<kWidth>(dy + column);
    const Lanes<T, kWidth> w = load_lanes<kWidth>(n.weight + column);
#pragma unroll
    for (int i = 0; i < kWidth; ++i) {
      const A scaled = g.v[i] * w.v[i];
      s += scaled;
      dot += scaled * ((v.v[i] - mean) * rstd);
    }
  });
  const A inverse = A{1} / static_cast<A>(n.C);
  const A shift = sum * inverse, shrink = warp_sum(dot) * inverse;
  for (int64_t column = threadIdx.x % kWarp * kWidth; column < n.C; column += kWarp * kWidth) {
    const Lanes<T, kWidth> v = load_lanes<kWidth>(x + column), g = load_lanes<kWidth>(dy + column);
    const Lanes<T, kWidth> w = load_lanes<kWidth>(n.weight + column);
    Lanes<T, kWidth> d = {};
    if (n.accumulate) d = load_lanes<kWidth>(dx + column);
#pragma unroll
    for (int i = 0; i < kWidth; ++i) {
      const A xhat = (v.v[i] - mean) * rstd;
      d.v[i] += (g.v[i] * w.v[i] - shift - xhat * shrink) * rstd;
    }
    store_lanes(dx + column, d);
    if (n.y != nullptr) {
      const Lanes<T, kWidth> b = load_lanes<kWidth>(n.bias + column);
      Lanes<T, kWidth> again;
#pragma unroll
      for (int i = 0; i < kWidth; ++i) again.v[i] = normed(v.v[i], mean, rstd, w.v[i], b.v[i]);
      store_lanes(n.y + row * n.y_stride + column, again);
    }
  }
}

// What dweight and dbias are sums of.
template <class T>
struct Columns {
  static constexpr int kSums = 2;

  template <int kWidth>
  __device__ __forceinline__ void add(int64_t row, int64_t column,
                                      Compute<T> (&sums)[2][kWidth]) const {
    const Lanes<T, kWidth> g = load_lanes<kWidth>(dy + row * dy_stride + column);
    const Lanes<T, kWidth> v = load_lanes<kWidth>(x + row * x_stride + column);
    const Compute<T> m = mean[row], r = rstd[row];
#pragma unroll
    for (int i = 0; i < kWidth; ++i) {
      sums[0][i] += g.v[i] * ((v.v[i] - m) * r);
      sums[1][i] += g.v[i];
    }
  }

  const T *dy, *x;
  const Compute<T>*mean, *rstd;
  int64_t dy_stride, x_stride;
};

// Whether a row, and where it begins, divide into vectors.
template <class T>
bool rows_fit_vec(const Tensor& rows) {
  const auto* data = static_cast<const T*>(rows.data);
  return fits_vec(data, rows.strides[0]) && fits_vec(data, rows.shape[1]);
}
template <class T>
bool vector_fits_vec(const Tensor& values) {
  return fits_vec(static_cast<const T*>(values.data), values.numel());
}

}  // namespace

void layer_norm_forward(Context& ctx, const Tensor& x, const Tensor& weight, const Tensor& bias,
                        double eps, const Tensor& y, const Tensor& rstd) {
  if (x.numel() == 0) return;
  with_device_type(x.dtype, [&](auto tag) {
    using T = decltype(tag);
    using A = Compute<T>;
    const ForwardRows<T> rows{.x = static_cast<const T*>(x.data),
                              .weight = static_cast<const T*>(weight.data),
                              .bias = static_cast<const T*>(bias.data),
                              .y = static_cast<T*>(y.data),
                              .rstd = static_cast<A*>(rstd.data),
                              .N = x.shape[0],
                              .C = x.shape[1],
                              .x_stride = x.strides[0],
                              .y_stride = y.strides[0],
                              .eps = static_cast<A>(eps)};
    const bool fits = rows_fit_vec<T>(x) && rows_fit_vec<T>(y) && vector_fits_vec<T>(weight) &&
                      vector_fits_vec<T>(bias);
    with_width<T>(fits, [&](auto width) {
      launch({ctx, blocks_for(rows.N, kNormWarps), kNormThreads}, forward_rows<T, width>, rows);
    });
  });
}

void layer_norm_backward(Context& ctx, const LayerNormBackward& n) {
  if (n.x.numel() == 0) return;
  const Workspace::Scope scope(ctx.workspace);
  const Tensor mean = ctx.workspace.take(n.rstd.dtype, n.rstd.shape);  // (N)
  with_device_type(n.x.dtype, [&](auto tag) {
    using T = decltype(tag);
    using A = Compute<T>;
    const bool build_y = n.y.defined();
    const BackwardRows<T> rows{.dy = static_cast<const T*>(n.dy.data),
                               .x = static_cast<const T*>(n.x.data),
                               .weight = static_cast<const T*>(n.weight.data),
                               .bias = static_cast<const T*>(n.bias.data),
                               .rstd = static_cast<const A*>(n.rstd.data),
                               .dx = static_cast<T*>(n.dx.data),
                               .y = static_cast<T*>(n.y.data),
                               .mean = static_cast<A*>(mean.data),
                               .N = n.x.shape[0],
                               .C = n.x.shape[1],
                               .dy_stride = n.dy.strides[0],
                               .x_stride = n.x.strides[0],
                               .dx_stride = n.dx.strides[0],
                               .y_stride = build_y ? n.y.strides[0] : 0,
                               .accumulate = n.accumulate_dx};
    const bool inputs = rows_fit_vec<T>(n.dy) && rows_fit_vec<T>(n.x);
    const bool fits = inputs && rows_fit_vec<T>(n.dx) && (!build_y || rows_fit_vec<T>(n.y)) &&
                      vector_fits_vec<T>(n.weight) && vector_fits_vec<T>(n.bias);
    // The columns' sums come first: dx may take the place of dy.
    with_width<T>(fits, [&](auto width) {
      launch({ctx, blocks_for(rows.N, kNormWarps), kNormThreads}, mean_rows<T, width>, rows);
    });
    add_column_sums<T>(
        ctx, Columns<T>{rows.dy, rows.x, rows.mean, rows.rstd, rows.dy_stride, rows.x_stride},
        inputs, rows.N, {n.dweight, n.dbias});
    with_width<T>(fits, [&](auto width) {
      launch({ctx, blocks_for(rows.N, kNormWarps), kNormThreads}, backward_rows<T, width>, rows);
    });
  });
}

}  // namespace ingot::cuda
