// Compiled with --fmad=false: a product and a sum are fused where fma() is written, as on the CPU.
#include "ops/cuda/adamw.h"

#include <cmath>

#include "ops/cuda/tensor_list.cuh"

namespace ingot::cuda {
namespace {

constexpr int kThreads = 256;
constexpr int64_t kChunk = 16 * 1024;  // elements a block updates: 480 KB of traffic

// One parameter's tensors, all (n); master, grad, m and v have the kernel's type A.
struct Shard {
  void *master = nullptr, *m = nullptr, *v = nullptr;
  const void* grad = nullptr;
  void* weight = nullptr;  // null: no compute copy
  DType weight_dtype = DType::F32;
  bool aligned = false;  // all of them to 16 bytes
  int64_t n = 0;
  double weight_decay = 0.0;
  int64_t first_chunk = 0;
  bool operator==(const Shard&) const = default;
};

struct ShardList : TensorList<Shard, kChunk> {
  explicit ShardList(CudaContext&) {}
};

// What all elements share in a step. The order of operations is that of torch.optim.AdamW, scalars
// rounded to A where torch does; see ops/cpu/adamw.cpp.
template <class A>
struct Scalars {
  double lr;
  A mix, beta2, square_mix, root2, eps, negative_rate, grad_scale;

  explicit Scalars(const AdamWStep& step) {
    const auto count = static_cast<double>(step.step);
    lr = step.lr;
    mix = static_cast<A>(1.0 - step.beta1);
    beta2 = static_cast<A>(step.beta2);
    square_mix = static_cast<A>(1.0 - step.beta2);
    root2 = static_cast<A>(std::sqrt(1.0 - std::pow(step.beta2, count)));
    eps = static_cast<A>(step.eps);
    negative_rate = static_cast<A>(-step.lr / (1.0 - std::pow(step.beta1, count)));
    grad_scale = static_cast<A>(step.grad_scale);
  }
};

template <class A>
__device__ __forceinline__ void update(const Scalars<A>& step, A keep, A unscaled, A& p, A& m,
                                       A& v) {
  const A g = unscaled * step.grad_scale;
  m = fma(step.mix, g - m, m);
  v = fma(g * step.square_mix, g, v * step.beta2);
  const A denominator = sqrt(v) / step.root2 + step.eps;
  p = p * keep + m * step.negative_rate / denominator;
}

// Elements [begin, end) of one shard by one block. W: the type of the compute copy, or void.
template <class A, class W>
__device__ void update_range(const Shard& shard, int64_t begin, int64_t end,
                             const Scalars<A>& step) {
  constexpr bool kCopies = !std::is_void_v<W>;
  constexpr int kSize = Vec<A>::kSize;
  using Copy = std::conditional_t<kCopies, W, A>;
  auto* ps = static_cast<A*>(shard.master);
  const auto* gs = static_cast<const A*>(shard.grad);
  auto* ms = static_cast<A*>(shard.m);
  auto* vs = static_cast<A*>(shard.v);
  auto* copies = static_cast<Copy*>(shard.weight);
  const A keep = static_cast<A>(1.0 - step.lr * shard.weight_decay);
  const int64_t vectors_end = shard.aligned ? begin + (end - begin) / kSize * kSize : begin;
  for (int64_t i = begin + threadIdx.x * kSize; i < vectors_end; i += kThreads * kSize) {
    const Vec<A> g = load_vec_streaming(gs + i);
    Vec<A> p = load_vec_streaming(ps + i), m = load_vec_streaming(ms + i),
           v = load_vec_streaming(vs + i);
    Vec<Copy, kSize> copy;
#pragma unroll
    for (int lane = 0; lane < kSize; ++lane) {
      update(step, keep, g.v[lane], p.v[lane], m.v[lane], v.v[lane]);
      copy.v[lane] = static_cast<Copy>(p.v[lane]);
    }
    store_vec_streaming(ps + i, p);
    store_vec_streaming(ms + i, m);
    store_vec_streaming(vs + i, v);
    if constexpr (kCopies) store_vec(copies + i, copy);
  }
#pragma unroll 1
  for (int64_t i = vectors_end + threadIdx.x; i < end; i += kThreads) {
    update(step, keep, gs[i], ps[i], ms[i], vs[i]);
    if constexpr (kCopies) copies[i] = static_cast<Copy>(ps[i]);
  }
}

template <class A>
__global__ void adamw_kernel(const Shard* shards, int count,
                             const __grid_constant__ Scalars<A> step) {
  const int64_t chunk = blockIdx.x;
  const Shard& shard = entry_of_chunk(shards, count, chunk);
  const int64_t begin = (chunk - shard.first_chunk) * kChunk;
  const int64_t end = min(begin + kChunk, shard.n);
  if (shard.weight == nullptr) {
    update_range<A, void>(shard, begin, end, step);
  } else if constexpr (std::is_same_v<A, double>) {
    update_range<double, double>(shard, begin, end, step);
  } else if (shard.weight_dtype == DType::BF16) {
    update_range<float, __nv_bfloat16>(shard, begin, end, step);
  } else {
    update_range<float, float>(shard, begin, end, step);
  }
}

Shard shard_of(const AdamWTensors& tensors) {
  const auto& [master, grad, m, v, weight, weight_decay] = tensors;
  Shard shard;
  shard.master = master.data;
  shard.grad = grad.data;
  shard.m = m.data;
  shard.v = v.data;
  shard.weight = weight.data == master.data ? nullptr : weight.data;
  shard.weight_dtype = weight.dtype;
  shard.n = master.numel();
  shard.weight_decay = weight_decay;
  shard.aligned = true;
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
  auto run = [&]<class A>(A) {
    launch({ctx, blocks_for(list.num_chunks(), 1), kThreads}, adamw_kernel<A>, list.on_device(),
           list.size(), Scalars<A>(step));
  };
  if (tensors[0].master.dtype == DType::F64) {
    run(double{});
  } else {
    run(float{});
  }
}

}  // namespace ingot::cuda
