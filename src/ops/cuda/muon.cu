#include "ops/kernels/muon.h"

#include "ops/cuda/common/lanes.cuh"

namespace ingot::cuda {
namespace {

constexpr int kThreads = 256;
constexpr int kUnroll = 4;  // vectors a thread has in flight

__device__ __forceinline__ int64_t thread_index() {
  return static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
}

// kWidth elements of a narrow tensor beside as many of a wide one: 8 bytes of BF16 go with 16 of
// F32, so Lanes, which are 16 bytes or one element, do not serve.
template <int kWidth, class A, class T>
__device__ __forceinline__ void load_as(const T* from, A (&to)[kWidth]) {
  const Vec<T, kWidth> vec = load_vec<T, kWidth>(from);
#pragma unroll
  for (int i = 0; i < kWidth; ++i) to[i] = static_cast<A>(vec.v[i]);
}

template <int kWidth, class A, class T>
__device__ __forceinline__ void store_as(T* to, const A (&from)[kWidth]) {
  Vec<T, kWidth> vec;
#pragma unroll
  for (int i = 0; i < kWidth; ++i) vec.v[i] = static_cast<T>(from[i]);
  store_vec(to, vec);
}

// grad, m and u: (n), n a multiple of kWidth. A block owns the run of `each` elements that its
// partial sum covers; squares may be null. A: of the states, U: of the direction.
template <class A, class U, int kWidth>
__global__ void __launch_bounds__(kThreads)
    muon_momentum_kernel(const A* __restrict__ grad, A* __restrict__ m, U* __restrict__ u,
                         A* __restrict__ squares, A mix, const double* values, int64_t each,
                         int64_t n) {
  if (values[kSkipped] != 0.0) return;
  const A scale = static_cast<A>(values[kGradScale]);
  __shared__ A shared[kThreads / kWarp];
  const int64_t begin = blockIdx.x * each;
  const int64_t end = begin + each < n ? begin + each : n;
  A sum = 0;
  constexpr int64_t kRound = int64_t{kThreads} * kUnroll * kWidth;
  for (int64_t first = begin + threadIdx.x * kWidth; first < end; first += kRound) {
    A g[kUnroll][kWidth], old_m[kUnroll][kWidth];
#pragma unroll
    for (int j = 0; j < kUnroll; ++j) {
      const int64_t at = first + j * kThreads * kWidth;
      if (at >= end) continue;
      load_as<kWidth>(grad + at, g[j]);
      load_as<kWidth>(m + at, old_m[j]);
    }
#pragma unroll
    for (int j = 0; j < kUnroll; ++j) {
      const int64_t at = first + j * kThreads * kWidth;
      if (at >= end) continue;
      A new_m[kWidth], direction[kWidth];
#pragma unroll
      for (int i = 0; i < kWidth; ++i) {
        const A scaled = g[j][i] * scale;
        new_m[i] = fma(mix, scaled - old_m[j][i], old_m[j][i]);
        direction[i] = fma(mix, scaled - new_m[i], new_m[i]);
        sum = fma(direction[i], direction[i], sum);
      }
      store_as<kWidth>(m + at, new_m);
      store_as<kWidth>(u + at, direction);
    }
  }
  if (squares == nullptr) return;
  sum = block_sum<kThreads>(sum, shared);
  if (threadIdx.x == 0) squares[blockIdx.x] = sum;
}

// u: (n), n a multiple of kWidth; runs as above.
template <class T, int kWidth>
__global__ void __launch_bounds__(kThreads)
    muon_squares_kernel(const T* __restrict__ u, Compute<T>* __restrict__ squares, int64_t each,
                        int64_t n) {
  using A = Compute<T>;
  __shared__ A shared[kThreads / kWarp];
  const int64_t begin = blockIdx.x * each;
  const int64_t end = begin + each < n ? begin + each : n;
  A sum = 0;
  for (int64_t at = begin + threadIdx.x * kWidth; at < end; at += int64_t{kThreads} * kWidth) {
    A direction[kWidth];
    load_as<kWidth>(u + at, direction);
#pragma unroll
    for (int i = 0; i < kWidth; ++i) sum = fma(direction[i], direction[i], sum);
  }
  sum = block_sum<kThreads>(sum, shared);
  if (threadIdx.x == 0) squares[blockIdx.x] = sum;
}

// u: `count` · kWidth elements, kUnroll · kWidth a thread. Every block adds the partial sums up in
// the same order, so all scale alike.
template <class T, int kWidth>
__global__ void __launch_bounds__(kThreads)
    muon_normalize_kernel(const Compute<T>* squares, int num_partials, Compute<T> margin, T* u,
                          int64_t count) {
  using A = Compute<T>;
  __shared__ A shared[kThreads / kWarp];
  A sum = 0;
  for (int i = static_cast<int>(threadIdx.x); i < num_partials; i += kThreads) sum += squares[i];
  sum = block_sum<kThreads>(sum, shared);
  const A scale = A{1} / (margin * sqrt(sum) + A{1e-7});
  const int64_t first = static_cast<int64_t>(blockIdx.x) * kThreads * kUnroll + threadIdx.x;
#pragma unroll
  for (int j = 0; j < kUnroll; ++j) {
    const int64_t index = first + j * kThreads;
    if (index >= count) return;
    Lanes<T, kWidth> lanes = load_lanes<kWidth>(u + index * kWidth);
#pragma unroll
    for (int i = 0; i < kWidth; ++i) lanes.v[i] *= scale;
    store_lanes(u + index * kWidth, lanes);
  }
}

// gram, square and out: (S, S), a row of which is `per_row` · kWidth elements.
template <class T, int kWidth>
__global__ void __launch_bounds__(kThreads)
    muon_polynomial_kernel(Compute<T> a, Compute<T> b, Compute<T> c, const T* gram, const T* square,
                           T* out, int64_t count, int64_t per_row) {
  const int64_t index = thread_index();
  if (index >= count) return;
  const int64_t row = index / per_row, col = (index - row * per_row) * kWidth;
  const Lanes<T, kWidth> grams = load_lanes<kWidth>(gram + index * kWidth);
  const Lanes<T, kWidth> squares = load_lanes<kWidth>(square + index * kWidth);
  Lanes<T, kWidth> result;
#pragma unroll
  for (int i = 0; i < kWidth; ++i) {
    result.v[i] = fma(c, squares.v[i], b * grams.v[i]);
    if (col + i == row) result.v[i] += a;
  }
  store_lanes(out + index * kWidth, result);
}

// x and master: `count` · kWidth elements. A: of master, X: of the direction.
template <class A, class X, int kWidth>
__global__ void __launch_bounds__(kThreads)
    muon_apply_kernel(A keep, A negative_rate, const double* values, const X* __restrict__ x,
                      A* __restrict__ master, int64_t count) {
  const int64_t index = thread_index();
  if (index >= count || values[kSkipped] != 0.0) return;
  A direction[kWidth], p[kWidth];
  load_as<kWidth>(x + index * kWidth, direction);
  load_as<kWidth>(master + index * kWidth, p);
#pragma unroll
  for (int i = 0; i < kWidth; ++i) p[i] = fma(negative_rate, direction[i], p[i] * keep);
  store_as<kWidth>(master + index * kWidth, p);
}

// Calls f(A{}, X{}) with the types of a direction and of the states that go with it.
template <class F>
void with_types(DType direction, const F& f) {
  with_device_type_of<DType::F32, DType::BF16, DType::F64>(
      direction, [&](auto x) { f(Compute<decltype(x)>{}, x); });
}

template <class T>
T* elements_of(const Tensor& tensor) {
  return static_cast<T*>(tensor.data);
}

// Whether n elements of X beside as many of the wide A go by vectors of A: 16 bytes of A, and of X
// as many elements, which are no more bytes.
template <class A>
bool fits(const void* data, int64_t n) {
  return fits_vec(static_cast<const A*>(data), n);
}

}  // namespace

void muon_momentum(Context& ctx, double beta, const UpdateScalars& scalars, const Tensor& grad,
                   const Tensor& m, const Tensor& u, const Tensor& squares) {
  const int64_t n = m.numel(), each = muon_partial_elements(n);
  with_types(u.dtype, [&](auto wide, auto direction) {
    using A = decltype(wide);
    using U = decltype(direction);
    with_width<A>(fits<A>(grad.data, n) && fits<A>(m.data, n) && fits<A>(u.data, n),
                  [&](auto width) {
                    launch({ctx, static_cast<unsigned>(muon_num_partials(n)), kThreads},
                           muon_momentum_kernel<A, U, width>, elements_of<A>(grad),
                           elements_of<A>(m), elements_of<U>(u), elements_of<A>(squares),
                           static_cast<A>(1.0 - beta), scalars.values.as<double>(), each, n);
                  });
  });
}

void muon_squares(Context& ctx, const Tensor& u, const Tensor& squares) {
  const int64_t n = u.numel();
  with_types(u.dtype, [&](auto wide, auto direction) {
    using A = decltype(wide);
    using U = decltype(direction);
    with_width<A>(fits<A>(u.data, n), [&](auto width) {
      launch({ctx, static_cast<unsigned>(squares.numel()), kThreads}, muon_squares_kernel<U, width>,
             elements_of<U>(u), elements_of<A>(squares), muon_partial_elements(n), n);
    });
  });
}

void muon_normalize(Context& ctx, const Tensor& squares, double margin, const Tensor& u) {
  with_types(u.dtype, [&](auto wide, auto direction) {
    using A = decltype(wide);
    using U = decltype(direction);
    U* us = elements_of<U>(u);
    with_width<U>(fits_vec(us, u.numel()), [&](auto width) {
      const int64_t count = u.numel() / width;
      launch({ctx, blocks_for(count, kThreads * kUnroll), kThreads},
             muon_normalize_kernel<U, width>, elements_of<A>(squares),
             static_cast<int>(squares.numel()), static_cast<A>(margin), us, count);
    });
  });
}

void muon_polynomial(Context& ctx, const MuonPolynomial& p, const Tensor& gram,
                     const Tensor& square, const Tensor& out) {
  const int64_t S = out.shape[0];
  with_types(out.dtype, [&](auto wide, auto element) {
    using A = decltype(wide);
    using T = decltype(element);
    const T* grams = elements_of<T>(gram);
    const T* squares = elements_of<T>(square);
    T* result = elements_of<T>(out);
    const bool fit = fits_vec(grams, S) && fits_vec(squares, S) && fits_vec(result, S);
    with_width<T>(fit, [&](auto width) {
      const int64_t count = out.numel() / width;
      launch({ctx, blocks_for(count, kThreads), kThreads}, muon_polynomial_kernel<T, width>,
             static_cast<A>(p.a), static_cast<A>(p.b), static_cast<A>(p.c), grams, squares, result,
             count, S / width);
    });
  });
}

void muon_apply(Context& ctx, double keep, double rate, const UpdateScalars& scalars,
                const Tensor& x, const Tensor& master) {
  const int64_t n = master.numel();
  with_types(x.dtype, [&](auto wide, auto direction) {
    using A = decltype(wide);
    using X = decltype(direction);
    with_width<A>(fits<A>(x.data, n) && fits<A>(master.data, n), [&](auto width) {
      const int64_t count = n / width;
      launch({ctx, blocks_for(count, kThreads), kThreads}, muon_apply_kernel<A, X, width>,
             static_cast<A>(keep), static_cast<A>(-rate), scalars.values.as<double>(),
             elements_of<X>(x), elements_of<A>(master), count);
    });
  });
}

}  // namespace ingot::cuda
