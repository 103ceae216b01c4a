// Attention of one new token of each sequence, over keys and values in pages.
//
// A block takes a part of the keys of a row and of a group of heads, so that each key is read once
// for all of them. Adjacent lanes share a key: with the 32 lanes of a warp on several keys, a warp
// reads whole lines. Every lane keeps a running softmax of the keys it met; those of the lanes, of
// the warps and of the blocks are merged in a fixed order, the last by the block that ends last.
#pragma once

#include "ops/cuda/common/early.cuh"
#include "ops/cuda/common/lanes.cuh"
#include "ops/cuda/paged_attention/pages.cuh"

namespace ingot::cuda::decode {

inline constexpr int kWarps = 4, kThreads = kWarps * kWarp;
inline constexpr int kPage = static_cast<int>(kPageTokens);
// A block takes at least these many pages: one for each warp.
inline constexpr int kLeastPages = kWarps;

// kHeads heads of a group at once; a head's elements lie in kLanes adjacent lanes, each of which has
// kVectors vectors of kWidth.
template <class T_, int kHeads_, int kLanes_, int kVectors_, int kWidth_ = Vec<T_>::kSize>
struct Shape {
  using T = T_;
  static constexpr int kHeads = kHeads_, kLanes = kLanes_, kVectors = kVectors_, kWidth = kWidth_;
  static constexpr int kElements = kVectors * kWidth;  // of a head in a lane
  static constexpr int kDims = kLanes * kElements;     // at least D
  static constexpr int kKeys = kWarp / kLanes;         // that a warp loads at once
  // Loads under way: 4 of keys and 4 of values, or what a page has.
  static constexpr int kSteps = kVectors > 2 ? 1 : kPage / kKeys < 4 ? kPage / kKeys : 4;
};

struct Call {
  const void *q, *pages;
  void* out;
  const int32_t *ends, *first_pages, *page_ids;
  int32_t* turns;   // (N, head tiles of all groups)
  float* partials;  // (N, head tiles of all groups, splits, kHeads, D + 2)
  int64_t q_row, q_head, out_row, out_head;
  float scale, softcap;  // 0: no cap
  int window;            // 0: all keys
  int groups, in_group, D;
};

// Σ of e^(score - largest), and of the values so weighted; scores are in powers of two.
template <int kElements>
struct Softmax {
  float largest = -INFINITY, total = 0;
  float sums[kElements] = {};

  // The factor that brings sums with this `largest` to `to`; 0 where there are none.
  __device__ __forceinline__ static float factor(float from, float to) {
    return from == -INFINITY ? 0.0f : exp2f(from - to);
  }
};

// The first kLanes lanes get the result.
template <class S>
__device__ __forceinline__ void merge_lanes(Softmax<S::kElements> (&heads)[S::kHeads]) {
#pragma unroll
  for (int distance = S::kLanes; distance < kWarp; distance *= 2) {
#pragma unroll
    for (auto& head : heads) {
      const float other = __shfl_xor_sync(0xffffffffu, head.largest, distance);
      const float largest = fmaxf(head.largest, other);
      const float mine = Softmax<S::kElements>::factor(head.largest, largest);
      const float theirs = Softmax<S::kElements>::factor(other, largest);
      head.total = mine * head.total +
                   theirs * __shfl_xor_sync(0xffffffffu, head.total, distance);
      for (float& sum : head.sums)
        sum = mine * sum + theirs * __shfl_xor_sync(0xffffffffu, sum, distance);
      head.largest = largest;
    }
  }
}

// The scores of kSteps keys enter the running softmax. `valid[i]`: key i is one.
template <class S>
__device__ __forceinline__ void add_keys(
    const Lanes<typename S::T, S::kWidth> (&q)[S::kHeads][S::kVectors],
    const Raw<typename S::T, S::kWidth> (&k)[S::kSteps][S::kVectors],
    const Raw<typename S::T, S::kWidth> (&v)[S::kSteps][S::kVectors], const bool (&valid)[S::kSteps],
    float softcap, Softmax<S::kElements> (&heads)[S::kHeads]) {
  using T = typename S::T;
  float scores[S::kHeads][S::kSteps];
#pragma unroll
  for (int step = 0; step < S::kSteps; ++step) {
#pragma unroll
    for (int h = 0; h < S::kHeads; ++h) scores[h][step] = 0;
#pragma unroll
    for (int vector = 0; vector < S::kVectors; ++vector) {
      const Lanes<T, S::kWidth> key = unpack<T>(k[step][vector]);
#pragma unroll
      for (int h = 0; h < S::kHeads; ++h)
#pragma unroll
        for (int i = 0; i < S::kWidth; ++i) scores[h][step] += q[h][vector].v[i] * key.v[i];
    }
  }
  constexpr float kLog2E = 1.442695040888963f;
#pragma unroll
  for (int h = 0; h < S::kHeads; ++h) {
    float largest = heads[h].largest;
#pragma unroll
    for (int step = 0; step < S::kSteps; ++step) {
      float score = warp_reduce<S::kLanes>(scores[h][step], Add{});
      if (softcap > 0) score = softcap * tanhf(score / softcap);
      scores[h][step] = valid[step] ? kLog2E * score : -INFINITY;
      largest = fmaxf(largest, scores[h][step]);
    }
    const float shrink = Softmax<S::kElements>::factor(heads[h].largest, largest);
    heads[h].largest = largest;
    heads[h].total *= shrink;
    for (float& sum : heads[h].sums) sum *= shrink;
#pragma unroll
    for (int step = 0; step < S::kSteps; ++step) {
      scores[h][step] = Softmax<S::kElements>::factor(scores[h][step], largest);
      heads[h].total += scores[h][step];
    }
  }
#pragma unroll
  for (int step = 0; step < S::kSteps; ++step) {
#pragma unroll
    for (int vector = 0; vector < S::kVectors; ++vector) {
      const Lanes<T, S::kWidth> value = unpack<T>(v[step][vector]);
#pragma unroll
      for (int h = 0; h < S::kHeads; ++h)
#pragma unroll
        for (int i = 0; i < S::kWidth; ++i)
          heads[h].sums[vector * S::kWidth + i] += scores[h][step] * value.v[i];
    }
  }
}

// Σ over `count` partial results, each D sums, then largest and total, `stride` apart: element d.
template <class Load>
__device__ __forceinline__ Softmax<1> merged(const float* parts, int count, int64_t stride, int d,
                                             int D, const Load& load) {
  Softmax<1> all;
  for (int i = 0; i < count; ++i) all.largest = fmaxf(all.largest, load(parts + i * stride + D));
  for (int i = 0; i < count; ++i) {
    const float* part = parts + i * stride;
    const float factor = Softmax<1>::factor(load(part + D), all.largest);
    all.total += factor * load(part + D + 1);
    all.sums[0] += factor * load(part + d);
  }
  return all;
}

// The grid is (splits, groups · head tiles, N).
template <class S>
__global__ void __launch_bounds__(kThreads) attention_kernel(const __grid_constant__ Call call) {
  using T = typename S::T;
  constexpr int kStride = S::kDims + 2;
  __shared__ float shared[kWarps][S::kHeads][kStride];
  __shared__ bool is_last;
  let_next_start();
  wait_for_previous();
  const int64_t row = blockIdx.z;
  const int D = call.D, end = call.ends[row];
  const int first = call.window > 0 ? max(0, end - call.window) : 0;
  const int first_page = first / kPage, num_pages = (end + kPage - 1) / kPage - first_page;
  const int splits = static_cast<int>(gridDim.x), split = static_cast<int>(blockIdx.x);
  const int pages_of_one = max(kLeastPages, (num_pages + splits - 1) / splits);
  const int used = (num_pages + pages_of_one - 1) / pages_of_one;
  if (split >= used) return;  // all of a row that is none
  const int tiles = static_cast<int>(gridDim.y) / call.groups;
  const int group = static_cast<int>(blockIdx.y) / tiles;
  const int in_group = static_cast<int>(blockIdx.y) % tiles * S::kHeads;  // its first head
  const int head = group * call.in_group + in_group;
  const int num_heads = min(S::kHeads, call.in_group - in_group);

  const int thread = static_cast<int>(threadIdx.x), warp = thread / kWarp, lane = thread % kWarp;
  const int place = lane % S::kLanes, key_of_lane = lane / S::kLanes;
  const auto column = [&](int vector) { return (vector * S::kLanes + place) * S::kWidth; };

  Lanes<T, S::kWidth> q[S::kHeads][S::kVectors];
#pragma unroll
  for (int h = 0; h < S::kHeads; ++h)
#pragma unroll
    for (int vector = 0; vector < S::kVectors; ++vector) {
      q[h][vector] = {};
      if (h >= num_heads || column(vector) >= D) continue;
      const T* from = static_cast<const T*>(call.q) + row * call.q_row +
                      (head + h) * call.q_head + column(vector);
      q[h][vector] = load_lanes<S::kWidth>(from);
#pragma unroll
      for (int i = 0; i < S::kWidth; ++i) q[h][vector].v[i] *= call.scale;
    }

  Softmax<S::kElements> heads[S::kHeads];
  constexpr int kUnit = S::kKeys * S::kSteps;  // keys that a warp takes at once
  const int begin = (first_page + split * pages_of_one) * kPage;
  const int stop = min(end, begin + pages_of_one * kPage);
  const int32_t* ids = call.page_ids + call.first_pages[row];
  for (int unit = begin + warp * kUnit; unit < stop; unit += kWarps * kUnit) {
    const T* keys = static_cast<const T*>(call.pages) +
                    page_offset(ids[unit / kPage], group, call.groups, D);
    Raw<T, S::kWidth> k[S::kSteps][S::kVectors], v[S::kSteps][S::kVectors];
    bool valid[S::kSteps];
#pragma unroll
    for (int step = 0; step < S::kSteps; ++step) {
      const int token = unit + step * S::kKeys + key_of_lane;
      valid[step] = token >= first && token < stop;
#pragma unroll
      for (int vector = 0; vector < S::kVectors; ++vector) {
        // What was never written may be NaN.
        k[step][vector] = v[step][vector] = {};
        if (!valid[step] || column(vector) >= D) continue;
        const T* from = keys + token % kPage * D + column(vector);
        k[step][vector] = load_raw<S::kWidth>(from);
        v[step][vector] = load_raw<S::kWidth>(from + kPage * D);
      }
    }
    add_keys<S>(q, k, v, valid, call.softcap, heads);
  }

  merge_lanes<S>(heads);
  if (key_of_lane == 0) {
#pragma unroll
    for (int h = 0; h < S::kHeads; ++h) {
#pragma unroll
      for (int vector = 0; vector < S::kVectors; ++vector)
#pragma unroll
        for (int i = 0; i < S::kWidth; ++i)
          shared[warp][h][column(vector) + i] = heads[h].sums[vector * S::kWidth + i];
      if (place == 0) {
        shared[warp][h][S::kDims] = heads[h].largest;
        shared[warp][h][S::kDims + 1] = heads[h].total;
      }
    }
  }
  __syncthreads();

  const int64_t cell = row * gridDim.y + blockIdx.y;
  const int stride = D + 2;
  float* partials = call.partials + cell * splits * S::kHeads * stride;
  const auto store = [&](int h, int d, const Softmax<1>& all) {
    static_cast<T*>(call.out)[row * call.out_row + (head + h) * call.out_head + d] =
        from_float<T>(all.sums[0] / all.total);
  };
  for (int i = thread; i < num_heads * D; i += kThreads) {
    const int h = i / D, d = i % D;
    const Softmax<1> all = merged(&shared[0][h][0], kWarps, S::kHeads * kStride, d, S::kDims,
                                  [](const float* from) { return *from; });
    if (used == 1) {
      store(h, d, all);
      continue;
    }
    float* to = partials + (split * S::kHeads + h) * stride;
    to[d] = all.sums[0];
    if (d == 0) {
      to[D] = all.largest;
      to[D + 1] = all.total;
    }
  }
  if (used == 1) return;

  __threadfence();
  __syncthreads();
  if (thread == 0) {
    is_last = atomicAdd(call.turns + cell, 1) == used - 1;
    if (is_last) call.turns[cell] = 0;
  }
  __syncthreads();
  if (!is_last) return;
  __threadfence();
  for (int i = thread; i < num_heads * D; i += kThreads) {
    const int h = i / D, d = i % D;
    store(h, d, merged(partials + h * stride, used, int64_t{S::kHeads} * stride, d, D,
                       [](const float* from) { return __ldcg(from); }));
  }
}

}  // namespace ingot::cuda::decode
