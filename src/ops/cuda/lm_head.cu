#include "ops/kernels/lm_head.h"

#include <algorithm>

#include "ops/cuda/common/lanes.cuh"

namespace ingot::cuda {
namespace {

template <class T>
struct Logits {
  explicit Logits(const Tensor& logits)
      : data(static_cast<T*>(logits.data)),
        stride(logits.strides[0]),
        vocab(static_cast<int>(logits.shape[1])),
        num_vectors(fits_vec(data, stride) ? vocab / Vec<T>::kSize : 0) {}

  __device__ T* row() const { return data + blockIdx.x * stride; }

  T* data;  // (N, V), a block a row
  int64_t stride;
  int vocab;
  int num_vectors;  // of each row; the rest is taken element by element
};

template <class A>
struct LossTerms {
  explicit LossTerms(const LossOptions& options)
      : z_loss(static_cast<A>(options.z_loss)),
        softcap(static_cast<A>(options.softcap)),
        inverse_softcap(static_cast<A>(1 / options.softcap)),
        ignore_index(options.ignore_index) {}

  __device__ A loss(A lse, A target_logit) const { return lse - target_logit + z_loss * lse * lse; }

  A z_loss;
  A softcap;          // 0: none
  A inverse_softcap;  // read only where there is a cap
  int32_t ignore_index;
};

constexpr float kLog2E = 1.44269504f;

// 2^x to 2 ulp; what is below the normal numbers becomes 0, which saves three instructions.
__device__ __forceinline__ float fast_exp2(float x) {
  float result;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
}

// exp(x - shift). The fast one is off by 6e-8 · |shift|: nothing to logits of 16 bits.
template <class T>
__device__ __forceinline__ Compute<T> exp_of(Compute<T> x, Compute<T> shift) {
  if constexpr (sizeof(T) < sizeof(float)) {
    return fast_exp2(fmaf(x, kLog2E, -shift * kLog2E));
  } else {
    return exp(x - shift);
  }
}

// c·tanh(x / c)
template <class T, bool kCapped>
__device__ __forceinline__ Compute<T> capped(Compute<T> x, const LossTerms<Compute<T>>& terms) {
  if constexpr (!kCapped) {
    return x;
  } else if constexpr (sizeof(T) < sizeof(float)) {
    const float e = fast_exp2(x * terms.inverse_softcap * (2 * kLog2E));  // e^(2x / c)
    return terms.softcap * (1.0f - __fdividef(2.0f, e + 1.0f));
  } else {
    return terms.softcap * tanh(x * terms.inverse_softcap);
  }
}

// Σ exp(y - top) of the values seen so far.
template <class A>
struct ExpSum {
  A top = A{-1e30};  // below any logit, and far enough from infinity to subtract from it
  A sum = 0;

  template <class T, int N>
  __device__ void add(const Lanes<T, N>& y) {
    A higher = top;
#pragma unroll
    for (int i = 0; i < N; ++i) higher = fmax(higher, y.v[i]);
    sum *= exp_of<T>(top, higher);
#pragma unroll
    for (int i = 0; i < N; ++i) sum += exp_of<T>(y.v[i], higher);
    top = higher;
  }
};

struct Higher {
  template <class A>
  __device__ A operator()(A a, A b) const {
    return fmax(a, b);
  }
};

// 16 bytes from global to shared memory, through no register. The copies up to each commit are one
// group; wait_but<N>() returns when this thread's groups but the last N are there.
__device__ __forceinline__ void copy_async(Packed* to, const void* from) {
  const auto address = static_cast<uint32_t>(__cvta_generic_to_shared(to));
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(address), "l"(from) : "memory");
}
__device__ __forceinline__ void commit_copies() {
  asm volatile("cp.async.commit_group;" ::: "memory");
}
template <int N>
__device__ __forceinline__ void wait_but() {
  asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory");
}

// Calls f(index, vector) for the vectors first, first + kThreads, … up to `end`, several loads of
// which are under way at a time.
template <int kThreads, class T, class F>
__device__ __forceinline__ void for_vectors(const T* row, int first, int end, const F& f) {
  constexpr int kUnroll = 4;
  for (; first < end; first += kUnroll * kThreads) {
    Packed x[kUnroll];
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) {
      const int index = first + u * kThreads;
      if (index < end) x[u] = load_packed(row + static_cast<int64_t>(index) * Vec<T>::kSize);
    }
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) {
      const int index = first + u * kThreads;
      if (index < end) f(index, x[u]);
    }
  }
}

// One pass over the row by all threads of the block, every one of which gets the result. The first
// `num_kept` vectors stay in `kept` (shared memory), each where the thread that copied it finds it
// again. `shared`: kThreads / 32 values.
template <int kThreads, bool kCapped, class T>
__device__ __forceinline__ ExpSum<Compute<T>> exp_sum_of_row(const Logits<T>& logits,
                                                             const LossTerms<Compute<T>>& terms,
                                                             Packed* kept, int num_kept,
                                                             Compute<T>* shared) {
  using A = Compute<T>;
  constexpr int kSize = Vec<T>::kSize;
  const T* row = logits.row();
  const int thread = static_cast<int>(threadIdx.x);
  ExpSum<A> seen;
  const auto add = [&](const Packed& x) {
    Lanes<T, kSize> y = unpack<T>(x);
#pragma unroll
    for (int i = 0; i < kSize; ++i) y.v[i] = capped<T, kCapped>(y.v[i], terms);
    seen.add(y);
  };

  constexpr int kAhead = 8;  // copies of a thread under way: 64 KB of a block's 512
  const auto fetch = [&](int index) {
    if (index < num_kept) copy_async(kept + index, row + static_cast<int64_t>(index) * kSize);
    commit_copies();  // an empty group too, so that the count is the same for all
  };
#pragma unroll
  for (int a = 0; a < kAhead; ++a) fetch(thread + a * kThreads);
  for (int index = thread; index < num_kept; index += kThreads) {
    fetch(index + kAhead * kThreads);
    wait_but<kAhead>();
    add(kept[index]);
  }
  for_vectors<kThreads>(row, num_kept + thread, logits.num_vectors,
                        [&](int, const Packed& x) { add(x); });
  for (int i = logits.num_vectors * kSize + thread; i < logits.vocab; i += kThreads)
    seen.add(Lanes<T, 1>{{capped<T, kCapped>(static_cast<A>(row[i]), terms)}});

  const A top = block_reduce<kThreads>(seen.top, shared, seen.top, Higher{});
  return {top, block_sum<kThreads>(seen.sum * exp_of<T>(seen.top, top), shared)};
}

// losses(N) of logits(N, V).
template <class T, int kThreads, bool kCapped>
__global__ void __launch_bounds__(kThreads)
    loss_kernel(Logits<T> logits, const int32_t* targets, LossTerms<Compute<T>> terms,
                Compute<T>* losses) {
  using A = Compute<T>;
  __shared__ A shared[kThreads / kWarp];
  const int32_t target = targets[blockIdx.x];
  if (target == terms.ignore_index) {
    if (threadIdx.x == 0) losses[blockIdx.x] = 0;
    return;
  }
  const ExpSum<A> all = exp_sum_of_row<kThreads, kCapped>(logits, terms, nullptr, 0, shared);
  if (threadIdx.x == 0) {
    const A target_logit = capped<T, kCapped>(static_cast<A>(logits.row()[target]), terms);
    losses[blockIdx.x] = terms.loss(all.top + log(all.sum), target_logit);
  }
}

template <int kThreads, class T>
__device__ __forceinline__ void clear_row(const Logits<T>& logits) {
  constexpr int kSize = Vec<T>::kSize;
  T* row = logits.row();
  const int thread = static_cast<int>(threadIdx.x);
  for (int index = thread; index < logits.num_vectors; index += kThreads)
    store_packed(row + static_cast<int64_t>(index) * kSize, Packed{});
  for (int i = logits.num_vectors * kSize + thread; i < logits.vocab; i += kThreads)
    row[i] = static_cast<T>(Compute<T>{0});
}

// The gradient of scale · loss with respect to one row of logits x. With p the softmax of the
// capped logits y = c·tanh(x / c): d loss / dy = p·(1 + 2·z·lse) - onehot, dy / dx = 1 - (y / c)².
template <class T, bool kCapped>
struct LogitGradient {
  using A = Compute<T>;

  __device__ LogitGradient(const LossTerms<A>& loss_terms, const ExpSum<A>& all, A lse,
                           A loss_scale)
      : terms(loss_terms),
        top(all.top),
        scale(loss_scale),
        factor(scale * (A{1} + A{2} * terms.z_loss * lse) / all.sum) {}

  __device__ A slope(A y) const {
    if constexpr (!kCapped) return A{1};
    return A{1} - y * terms.inverse_softcap * (y * terms.inverse_softcap);
  }
  __device__ A softmax_part(A x) const {
    const A y = capped<T, kCapped>(x, terms);
    return exp_of<T>(y, top) * factor * slope(y);
  }
  __device__ A of_target(A y) const {  // y capped already
    return (exp_of<T>(y, top) * factor - scale) * slope(y);
  }
  __device__ void write(T* row, int index, const Packed& x) const {
    constexpr int kSize = Vec<T>::kSize;
    Lanes<T, kSize> d = unpack<T>(x);
#pragma unroll
    for (int i = 0; i < kSize; ++i) d.v[i] = softmax_part(d.v[i]);
    store_packed(row + static_cast<int64_t>(index) * kSize, pack<T>(d));
  }

  const LossTerms<A>& terms;
  A top, scale, factor;
};

// The same, and logits become the gradient of scale · Σ losses.
// The first `num_kept` vectors of the row wait in shared memory for the sum, so that they are read
// once.
template <class T, int kThreads, bool kCapped>
__global__ void __launch_bounds__(kThreads)
    gradient_kernel(Logits<T> logits, const int32_t* targets, LossTerms<Compute<T>> terms,
                    const double* loss_scale, int num_kept, Compute<T>* losses) {
  using A = Compute<T>;
  constexpr int kSize = Vec<T>::kSize;
  __shared__ A shared[kThreads / kWarp];
  extern __shared__ Packed kept[];  // (num_kept)
  T* row = logits.row();
  const int thread = static_cast<int>(threadIdx.x);
  const int32_t target = targets[blockIdx.x];
  if (target == terms.ignore_index) {
    clear_row<kThreads>(logits);
    if (thread == 0) losses[blockIdx.x] = 0;
    return;
  }

  const A target_logit = capped<T, kCapped>(static_cast<A>(row[target]), terms);
  const ExpSum<A> all = exp_sum_of_row<kThreads, kCapped>(logits, terms, kept, num_kept, shared);
  const A lse = all.top + log(all.sum);
  const LogitGradient<T, kCapped> gradient(terms, all, lse, static_cast<A>(*loss_scale));
  const auto write = [&](int index, const Packed& x) { gradient.write(row, index, x); };

#pragma unroll 4
  for (int index = thread; index < num_kept; index += kThreads) write(index, kept[index]);
  for_vectors<kThreads>(row, num_kept + thread, logits.num_vectors, write);
  for (int i = logits.num_vectors * kSize + thread; i < logits.vocab; i += kThreads)
    row[i] = static_cast<T>(gradient.softmax_part(static_cast<A>(row[i])));

  __syncthreads();  // the target's element has been written as one of many
  if (thread == 0) {
    row[target] = static_cast<T>(gradient.of_target(target_logit));
    losses[blockIdx.x] = terms.loss(lse, target_logit);
  }
}

// Of a token in a shard of the vocabulary, or in all of it.
template <class A>
struct Statistics {
  A top, sum, target;
};

// statistics(N) of logits(N, V), which are the rows [first, first + V) of the vocabulary.
template <class T, int kThreads, bool kCapped>
__global__ void __launch_bounds__(kThreads)
    statistics_kernel(Logits<T> logits, const int32_t* targets, int first,
                      LossTerms<Compute<T>> terms, Statistics<Compute<T>>* statistics) {
  using A = Compute<T>;
  __shared__ A shared[kThreads / kWarp];
  const int32_t target = targets[blockIdx.x];
  if (target == terms.ignore_index) {
    if (threadIdx.x == 0) statistics[blockIdx.x] = {0, 0, 0};
    return;
  }
  const ExpSum<A> all = exp_sum_of_row<kThreads, kCapped>(logits, terms, nullptr, 0, shared);
  if (threadIdx.x == 0) {
    const int place = target - first;
    const bool here = place >= 0 && place < logits.vocab;
    statistics[blockIdx.x] = {
        all.top, all.sum,
        here ? capped<T, kCapped>(static_cast<A>(logits.row()[place]), terms) : A{0}};
  }
}

// Of shard r at parts[r · stride]; the same for every thread that asks.
template <class T>
__device__ Statistics<Compute<T>> merged(const Statistics<Compute<T>>* parts, int num_shards,
                                         int64_t stride) {
  using A = Compute<T>;
  Statistics<A> all{parts[0].top, 0, 0};
  for (int r = 1; r < num_shards; ++r) all.top = fmax(all.top, parts[r * stride].top);
  for (int r = 0; r < num_shards; ++r) {
    const Statistics<A> part = parts[r * stride];
    all.sum += part.sum * exp_of<T>(part.top, all.top);
    all.target += part.target;
  }
  return all;
}

// losses(N) of parts(num_shards, N), and unless loss_scale is null this shard's logits become their
// gradient.
template <class T, int kThreads, bool kCapped>
__global__ void __launch_bounds__(kThreads)
    from_statistics_kernel(Logits<T> logits, const int32_t* targets, int first,
                           LossTerms<Compute<T>> terms, const Statistics<Compute<T>>* parts,
                           int num_shards, const double* loss_scale, Compute<T>* losses) {
  using A = Compute<T>;
  constexpr int kSize = Vec<T>::kSize;
  T* row = logits.row();
  const int thread = static_cast<int>(threadIdx.x);
  const int32_t target = targets[blockIdx.x];
  if (target == terms.ignore_index) {
    if (loss_scale != nullptr) clear_row<kThreads>(logits);
    if (thread == 0) losses[blockIdx.x] = 0;
    return;
  }
  const Statistics<A> all = merged<T>(parts + blockIdx.x, num_shards, gridDim.x);
  const A lse = all.top + log(all.sum);
  if (thread == 0) losses[blockIdx.x] = terms.loss(lse, all.target);
  if (loss_scale == nullptr) return;

  const LogitGradient<T, kCapped> gradient(terms, {all.top, all.sum}, lse,
                                           static_cast<A>(*loss_scale));
  for_vectors<kThreads>(row, thread, logits.num_vectors,
                        [&](int index, const Packed& x) { gradient.write(row, index, x); });
  for (int i = logits.num_vectors * kSize + thread; i < logits.vocab; i += kThreads)
    row[i] = static_cast<T>(gradient.softmax_part(static_cast<A>(row[i])));
  __syncthreads();  // the target's element has been written as one of many
  const int place = target - first;
  if (thread == 0 && place >= 0 && place < logits.vocab)
    row[place] = static_cast<T>(gradient.of_target(all.target));
}

template <class F>
void with_cap(const LossOptions& options, const F& f) {
  if (options.softcap > 0) {
    f(std::true_type{});
  } else {
    f(std::false_type{});
  }
}

// Bytes of dynamic shared memory that each of `blocks` blocks on one multiprocessor can have.
int64_t shared_bytes_of(const Context& ctx, int64_t blocks) {
  constexpr int64_t kReductionBytes = 256;  // the kernels' static arrays
  const cudaDeviceProp& properties = ctx.cuda->properties();
  const int64_t share = static_cast<int64_t>(properties.sharedMemPerMultiprocessor) / blocks -
                        static_cast<int64_t>(properties.reservedSharedMemPerBlock);
  return std::min(share, static_cast<int64_t>(properties.sharedMemPerBlockOptin)) - kReductionBytes;
}

template <class T, int kThreads, bool kCapped>
void launch_gradient(Context& ctx, const Logits<T>& logits, int64_t num_rows,
                     const int32_t* targets, const LossOptions& options, const Tensor& scale,
                     Compute<T>* losses) {
  using A = Compute<T>;
  const auto kernel = gradient_kernel<T, kThreads, kCapped>;
  const int64_t most = shared_bytes_of(ctx, 1) / static_cast<int64_t>(sizeof(Packed));
  const int num_kept = static_cast<int>(std::min<int64_t>(logits.num_vectors, most));
  const int bytes = num_kept * static_cast<int>(sizeof(Packed));
  allow_shared_memory(ctx, kernel);
  cuda_check(cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout,
                                  cudaSharedmemCarveoutMaxShared));
  launch({ctx, blocks_for(num_rows, 1), kThreads, static_cast<size_t>(bytes)}, kernel, logits,
         targets, LossTerms<A>(options), scale.as<double>(), num_kept, losses);
}

__global__ void gradient_scale_kernel(const double* loss_scale, double limit, float* scale,
                                      float* inverse) {
  const double ratio = limit / (2 * fabs(*loss_scale));
  const int exponent = ratio > 0 && isfinite(ratio) ? ilogb(ratio) : 0;
  *scale = ldexpf(1.0f, exponent);
  *inverse = ldexpf(1.0f, -exponent);
}

}  // namespace

void logits_gradient_scale(Context& ctx, const Tensor& loss_scale, const Tensor& scale,
                           const Tensor& inverse) {
  launch({ctx, 1, 1}, gradient_scale_kernel, loss_scale.as<double>(),
         static_cast<double>(fp8_limit(DType::F8E5M2)), scale.as<float>(), inverse.as<float>());
}

void cross_entropy(Context& ctx, const Tensor& logits, const Tensor& targets,
                   const LossOptions& options, const Tensor& losses) {
  constexpr int kThreads = 512;
  with_device_type(logits.dtype, [&](auto tag) {
    using T = decltype(tag);
    using A = Compute<T>;
    with_cap(options, [&](auto cap) {
      launch({ctx, blocks_for(logits.shape[0], 1), kThreads}, loss_kernel<T, kThreads, cap>,
             Logits<T>(logits), targets.as<int32_t>(), LossTerms<A>(options),
             static_cast<A*>(losses.data));
    });
  });
}

void cross_entropy_statistics(Context& ctx, const Tensor& logits, const Tensor& targets,
                              int64_t first, const LossOptions& options, const Tensor& statistics) {
  constexpr int kThreads = 512;
  with_device_type(logits.dtype, [&](auto tag) {
    using T = decltype(tag);
    using A = Compute<T>;
    with_cap(options, [&](auto cap) {
      launch({ctx, blocks_for(logits.shape[0], 1), kThreads}, statistics_kernel<T, kThreads, cap>,
             Logits<T>(logits), targets.as<int32_t>(), static_cast<int>(first),
             LossTerms<A>(options), static_cast<Statistics<A>*>(statistics.data));
    });
  });
}

void cross_entropy_from_statistics(Context& ctx, const Tensor& logits, const Tensor& targets,
                                   int64_t first, const LossOptions& options,
                                   const Tensor& statistics, const Tensor& scale,
                                   const Tensor& losses) {
  constexpr int kThreads = 512;
  const double* factor = scale.defined() ? scale.as<double>() : nullptr;
  with_device_type(logits.dtype, [&](auto tag) {
    using T = decltype(tag);
    using A = Compute<T>;
    with_cap(options, [&](auto cap) {
      launch({ctx, blocks_for(logits.shape[0], 1), kThreads},
             from_statistics_kernel<T, kThreads, cap>, Logits<T>(logits), targets.as<int32_t>(),
             static_cast<int>(first), LossTerms<A>(options),
             static_cast<const Statistics<A>*>(statistics.data),
             static_cast<int>(statistics.shape[0]), factor, static_cast<A*>(losses.data));
    });
  });
}

void cross_entropy_gradient(Context& ctx, const Tensor& logits, const Tensor& targets,
                            const LossOptions& options, const Tensor& scale, const Tensor& losses) {
  with_device_type(logits.dtype, [&](auto tag) {
    using T = decltype(tag);
    const Logits<T> rows(logits);
    const int64_t num_rows = logits.shape[0];
    const int32_t* ids = targets.as<int32_t>();  // (N)
    auto* out = static_cast<Compute<T>*>(losses.data);
    const int64_t row_bytes = rows.num_vectors * static_cast<int64_t>(sizeof(Packed));
    with_cap(options, [&](auto cap) {
      // Two rows on a multiprocessor at a time, so that one is read while another is written; a
      // row that leaves no room for a second has all the threads.
      if (row_bytes <= shared_bytes_of(ctx, 2)) {
        launch_gradient<T, 512, cap>(ctx, rows, num_rows, ids, options, scale, out);
      } else {
        launch_gradient<T, 1024, cap>(ctx, rows, num_rows, ids, options, scale, out);
      }
    });
  });
}

}  // namespace ingot::cuda
