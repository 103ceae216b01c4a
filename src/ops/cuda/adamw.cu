// Compiled with --fmad=false: multiply and add are fused where fma() is written, as on the CPU.
#include "ops/kernels/adamw.h"

#include "core/random/random.h"
#include "ops/cuda/common/philox.cuh"
#include "ops/cuda/common/tensor_list.cuh"
#include "ops/cuda/halves.cuh"

namespace ingot::cuda {
namespace {

constexpr int kThreads = 256;
constexpr int64_t kChunk = 16 * 1024;  // elements a block updates: up to 480 KB of traffic

// One parameter's tensors, all (n); master and grad have the kernel's type A, m and v its type M.
struct Shard {
  bool halves = false;  // master is U16, the low half beside a BF16 weight
  void *master = nullptr, *m = nullptr, *v = nullptr;
  const void* grad = nullptr;
  void* weight = nullptr;  // null: no compute copy
  DType weight_dtype = DType::F32;
  bool aligned = false;  // all of them to 16 bytes; where M rounds, first_index to 4 random words
  int64_t n = 0;
  double weight_decay = 0.0;
  uint32_t tensor = 0;
  uint64_t first_index = 0;
  int64_t first_chunk = 0;
  bool operator==(const Shard&) const = default;
};

struct ShardList : TensorList<Shard, kChunk> {
  explicit ShardList(CudaContext&) {}
};

// What the host knows of a step, for all elements. The order of operations is that of
// torch.optim.AdamW, scalars rounded to A where torch does; see ops/cpu/adamw.cpp.
template <class A>
struct Settings {
  double lr;
  A mix, beta2, square_mix, eps;
  uint32_t key0, key1;   // of the stream that moments are rounded by
  const double* values;  // UpdateScalars
  const int64_t* count;
  const double *corrections1, *roots2;  // (num1), (num2)
  int64_t num1, num2;

  explicit Settings(const AdamWStep& step) {
    lr = step.lr;
    mix = static_cast<A>(1.0 - step.beta1);
    beta2 = static_cast<A>(step.beta2);
    square_mix = static_cast<A>(1.0 - step.beta2);
    eps = static_cast<A>(step.eps);
    const RandomStream stream(step.seed, Purpose::Rounding);  // of all t below 2³²
    key0 = stream.key()[0];
    key1 = stream.key()[1];
    values = step.scalars.values.as<double>();
    count = step.scalars.count.as<int64_t>();
    corrections1 = step.corrections1.as<double>();
    roots2 = step.roots2.as<double>();
    num1 = step.corrections1.numel();
    num2 = step.roots2.numel();
  }
};

// And what only the device knows.
template <class A>
struct Decided {
  A root2, negative_rate, grad_scale;
  uint32_t random_step;

  __device__ static Decided of(const Settings<A>& step) {
    const int64_t t = *step.count;
    return {static_cast<A>(step.roots2[min(t, step.num2) - 1]),
            static_cast<A>(-step.lr / step.corrections1[min(t, step.num1) - 1]),
            static_cast<A>(step.values[kGradScale]), static_cast<uint32_t>(t)};
  }
};

template <class A>
__device__ __forceinline__ void update(const Settings<A>& step, const Decided<A>& decided, A keep,
                                       A unscaled, A& p, A& m, A& v) {
  const A g = unscaled * decided.grad_scale;
  m = fma(step.mix, g - m, m);
  v = fma(g * step.square_mix, g, v * step.beta2);
  const A denominator = sqrt(v) / decided.root2 + step.eps;
  p = p * keep + m * decided.negative_rate / denominator;
}

// The random words of elements 4·block … 4·block + 3 of the parameter.
template <class A>
__device__ __forceinline__ uint4 random_words(const Shard& shard, const Settings<A>& step,
                                              const Decided<A>& decided, uint64_t block) {
  return philox4x32({static_cast<uint32_t>(block), static_cast<uint32_t>(block >> 32), shard.tensor,
                     decided.random_step},
                    step.key0, step.key1);
}

// One of the two bf16 next to `value`, the farther one the rarer; `random` is below 2¹⁶. A NaN
// stays a NaN.
__device__ __forceinline__ __nv_bfloat16 random_bf16(float value, uint32_t random) {
  const uint32_t bits = __float_as_uint(value);
  const uint32_t chosen = value == value ? bits + random : bits | 0x400000u;
  return __ushort_as_bfloat16(static_cast<unsigned short>(chosen >> 16));
}

// kSize elements that follow each other, 16 bytes at a time.
template <int kSize, class T>
__device__ __forceinline__ Vec<T, kSize> load_streaming(const T* from) {
  Vec<Vec<T>, kSize / Vec<T>::kSize> parts;
#pragma unroll
  for (int i = 0; i < kSize / Vec<T>::kSize; ++i)
    parts.v[i] = load_vec_streaming(from + i * Vec<T>::kSize);
  return std::bit_cast<Vec<T, kSize>>(parts);
}
template <int kSize, class T>
__device__ __forceinline__ void store_streaming(T* to, const Vec<T, kSize>& vec) {
  const auto parts = std::bit_cast<Vec<Vec<T>, kSize / Vec<T>::kSize>>(vec);
#pragma unroll
  for (int i = 0; i < kSize / Vec<T>::kSize; ++i)
    store_vec_streaming(to + i * Vec<T>::kSize, parts.v[i]);
}

struct Halves {};  // as type of the compute copy: see Shard::halves

// The new parameters of kSize elements, read before they are written.
template <class A, class W>
struct Master {
  static constexpr bool kCopies = !std::is_void_v<W>;
  using Copy = std::conditional_t<kCopies, W, A>;
  A* masters;
  Copy* copies;

  __device__ explicit Master(const Shard& shard)
      : masters(static_cast<A*>(shard.master)), copies(static_cast<Copy*>(shard.weight)) {}
  template <int kSize>
  __device__ __forceinline__ Vec<A, kSize> load(int64_t i) const {
    return load_streaming<kSize>(masters + i);
  }
  template <int kSize>
  __device__ __forceinline__ void store(int64_t i, const Vec<A, kSize>& p) const {
    store_streaming(masters + i, p);
    if constexpr (kCopies) {
      Vec<Copy, kSize> copy;
#pragma unroll
      for (int lane = 0; lane < kSize; ++lane) copy.v[lane] = static_cast<Copy>(p.v[lane]);
      store_vec(copies + i, copy);
    }
  }
  __device__ A load_one(int64_t i) const {
    return masters[i];
  }
  __device__ void store_one(int64_t i, A p) const {
    masters[i] = p;
    if constexpr (kCopies) copies[i] = static_cast<Copy>(p);
  }
};

template <>
struct Master<float, Halves> {
  uint16_t *highs, *lows;

  __device__ explicit Master(const Shard& shard)
      : highs(static_cast<uint16_t*>(shard.weight)), lows(static_cast<uint16_t*>(shard.master)) {}
  template <int kSize>
  __device__ __forceinline__ Vec<float, kSize> load(int64_t i) const {
    const auto high = load_vec<uint16_t, kSize>(highs + i),
               low = load_vec<uint16_t, kSize>(lows + i);
    Vec<float, kSize> p;
#pragma unroll
    for (int lane = 0; lane < kSize; ++lane) p.v[lane] = join_halves(high.v[lane], low.v[lane]);
    return p;
  }
  template <int kSize>
  __device__ __forceinline__ void store(int64_t i, const Vec<float, kSize>& p) const {
    Vec<uint16_t, kSize> high, low;
#pragma unroll
    for (int lane = 0; lane < kSize; ++lane) {
      high.v[lane] = high_half(p.v[lane]);
      low.v[lane] = low_half(p.v[lane]);
    }
    store_vec(highs + i, high);
    store_vec(lows + i, low);
  }
  __device__ float load_one(int64_t i) const {
    return join_halves(highs[i], lows[i]);
  }
  __device__ void store_one(int64_t i, float p) const {
    highs[i] = high_half(p);
    lows[i] = low_half(p);
  }
};

// Elements [begin, end) of one shard by one block. M: the type of the moments, A itself or bf16. W:
// of the compute copy, Halves, or void.
template <class A, class M, class W>
__device__ void update_range(const Shard& shard, int64_t begin, int64_t end,
                             const Settings<A>& step, const Decided<A>& decided) {
  constexpr bool kRounds = !std::is_same_v<M, A>;
  constexpr int kSize = Vec<M>::kSize;
  const Master<A, W> master(shard);
  const auto* gs = static_cast<const A*>(shard.grad);
  auto* ms = static_cast<M*>(shard.m);
  auto* vs = static_cast<M*>(shard.v);
  const A keep = static_cast<A>(1.0 - step.lr * shard.weight_decay);
  // The new moments as they are stored.
  const auto round = [](A m, A v, uint32_t random, M& stored_m, M& stored_v) {
    if constexpr (kRounds) {
      stored_m = random_bf16(m, random & 0xffffu);
      stored_v = random_bf16(v, random >> 16);
    } else {
      stored_m = m;
      stored_v = v;
    }
  };
  const int64_t vectors_end = shard.aligned ? begin + (end - begin) / kSize * kSize : begin;
  for (int64_t i = begin + threadIdx.x * kSize; i < vectors_end; i += kThreads * kSize) {
    const auto g = load_streaming<kSize>(gs + i);
    auto p = master.template load<kSize>(i);
    Vec<M> ms_here = load_vec_streaming(ms + i), vs_here = load_vec_streaming(vs + i);
    uint32_t random[kSize] = {};
    if constexpr (kRounds) {
#pragma unroll
      for (int lane = 0; lane < kSize; lane += 4) {
        const uint4 words = random_words(shard, step, decided,
                                         (shard.first_index + static_cast<uint64_t>(i + lane)) / 4);
        random[lane] = words.x, random[lane + 1] = words.y;
        random[lane + 2] = words.z, random[lane + 3] = words.w;
      }
    }
#pragma unroll
    for (int lane = 0; lane < kSize; ++lane) {
      A m = static_cast<A>(ms_here.v[lane]), v = static_cast<A>(vs_here.v[lane]);
      update(step, decided, keep, g.v[lane], p.v[lane], m, v);
      round(m, v, random[lane], ms_here.v[lane], vs_here.v[lane]);
    }
    master.store(i, p);
    store_vec_streaming(ms + i, ms_here);
    store_vec_streaming(vs + i, vs_here);
  }
#pragma unroll 1
  for (int64_t i = vectors_end + threadIdx.x; i < end; i += kThreads) {
    uint32_t random = 0;
    if constexpr (kRounds) {
      const uint64_t index = shard.first_index + static_cast<uint64_t>(i);
      const uint4 words = random_words(shard, step, decided, index / 4);
      const uint32_t low = index % 2 == 0 ? words.x : words.y;
      const uint32_t high = index % 2 == 0 ? words.z : words.w;
      random = index % 4 < 2 ? low : high;
    }
    A m = static_cast<A>(ms[i]), v = static_cast<A>(vs[i]);
    A p = master.load_one(i);
    update(step, decided, keep, gs[i], p, m, v);
    round(m, v, random, ms[i], vs[i]);
    master.store_one(i, p);
  }
}

// Three blocks on a multiprocessor: one thread's eight elements and their random words would
// otherwise leave room for two, too few to read while others compute.
template <class A, class M>
__global__ void __launch_bounds__(kThreads, 3)
    adamw_kernel(const Shard* shards, int count, const __grid_constant__ Settings<A> step) {
  if (step.values[kSkipped] != 0.0) return;
  __shared__ Decided<A> decided;
  if (threadIdx.x == 0) decided = Decided<A>::of(step);
  __syncthreads();
  const int64_t chunk = blockIdx.x;
  const Shard& shard = entry_of_chunk(shards, count, chunk);
  const int64_t begin = (chunk - shard.first_chunk) * kChunk;
  const int64_t end = min(begin + kChunk, shard.n);
  if (shard.weight == nullptr) {
    update_range<A, M, void>(shard, begin, end, step, decided);
  } else if constexpr (std::is_same_v<A, double>) {
    update_range<A, M, double>(shard, begin, end, step, decided);
  } else if (shard.halves) {
    update_range<A, M, Halves>(shard, begin, end, step, decided);
  } else if (shard.weight_dtype == DType::BF16) {
    update_range<A, M, __nv_bfloat16>(shard, begin, end, step, decided);
  } else if (shard.weight_dtype == DType::F16) {
    update_range<A, M, __half>(shard, begin, end, step, decided);
  } else {
    update_range<A, M, float>(shard, begin, end, step, decided);
  }
}

Shard shard_of(const AdamWTensors& tensors) {
  const auto& [master, grad, m, v, weight, weight_decay, tensor, first_index] = tensors;
  Shard shard;
  shard.halves = master.dtype == DType::U16;
  shard.master = master.data;
  shard.grad = grad.data;
  shard.m = m.data;
  shard.v = v.data;
  shard.weight = weight.data == master.data ? nullptr : weight.data;
  shard.weight_dtype = weight.dtype;
  shard.n = master.numel();
  shard.weight_decay = weight_decay;
  shard.tensor = tensor;
  shard.first_index = first_index;
  shard.aligned = m.dtype != DType::BF16 || first_index % 4 == 0;
  for (const void* data : {master.data, grad.data, m.data, v.data, shard.weight})
    shard.aligned = shard.aligned && reinterpret_cast<uintptr_t>(data) % 16 == 0;
  return shard;
}

}  // namespace

void adamw(Context& ctx, const AdamWStep& step, std::span<const AdamWTensors> tensors) {
  if (tensors.empty()) return;
  std::vector<Shard> shards;
  for (const AdamWTensors& one : tensors) shards.push_back(shard_of(one));
  auto& list = ctx.cuda->library<ShardList>();
  list.set(ctx, std::move(shards));
  auto run = [&]<class A, class M>(A, M) {
    launch({ctx, blocks_for(list.num_chunks(), 1), kThreads}, adamw_kernel<A, M>, list.on_device(),
           list.size(), Settings<A>(step));
  };
  if (tensors[0].master.dtype == DType::F64) {
    run(double{}, double{});
  } else if (tensors[0].m.dtype == DType::BF16) {
    run(float{}, __nv_bfloat16{});
  } else {
    run(float{}, float{});
  }
}

}  // namespace ingot::cuda
