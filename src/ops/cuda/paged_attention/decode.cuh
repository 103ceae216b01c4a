// Attention of one new token of each sequence, over keys and values in pages. It also writes the
// token's own key and value to its page.
//
// A block takes a part of the keys of a row and of a group of heads, so that each key is read once
// for all of them. Adjacent lanes share a key: with the 32 lanes of a warp on several keys, a warp
// reads whole lines. Every lane keeps a running softmax of the keys it met; those of the lanes, of
// the warps and of the blocks are merged in a fixed order. The blocks of a row are a cluster, which
// read each other's sums in shared memory.
#pragma once

#include <cooperative_groups.h>

#include "ops/cuda/common/early.cuh"
#include "ops/cuda/common/lanes.cuh"
#include "ops/cuda/paged_attention/pages.cuh"

namespace ingot::cuda::decode {

inline constexpr int kPage = static_cast<int>(kPageTokens);

// kHeads heads of a group at once; a head's elements lie in kLanes adjacent lanes, each of which
// has kVectors vectors of kWidth.
template <class T_, int kHeads_, int kLanes_, int kVectors_, int kWidth_ = Vec<T_>::kSize>
struct Shape {
  using T = T_;
  static constexpr int kHeads = kHeads_, kLanes = kLanes_, kVectors = kVectors_, kWidth = kWidth_;
  static constexpr int kElements = kVectors * kWidth;  // of a head in a lane
  static constexpr int kDims = kLanes * kElements;     // at least D
  static constexpr int kKeys = kWarp / kLanes;         // that a warp loads at once
  // Loads of keys under way, and as many of values: what registers hold.
  static constexpr int kSteps = kVectors > 2 ? 1 : kHeads* kElements > 32 ? 2 : 4;
  static constexpr int kUnit = kKeys * kSteps;  // keys that a warp takes at once
  static constexpr int kWarps = 4, kThreads = kWarps * kWarp;
};

struct Call {
  const void *q, *k, *v;
  void *out, *pages;
  const int32_t *ends, *first_pages, *page_ids;
  int64_t q_row, q_head, k_row, k_head, v_row, v_head, out_row, out_head;
  float scale, softcap;  // 0: no cap
  int window;            // 0: all keys
  int groups, in_group, D;
};

// Σ of 2^(score - largest), and of the values so weighted.
template <int kElements>
struct Softmax {
  float largest = -1e30f, total = 0;  // below every score, but finite: differences are no NaN
  float sums[kElements] = {};
};

// 2^(from - to): the factor that brings sums with the largest score `from` to `to`. exp2f() also
// scales subnormal results, which are nothing beside 1.
__device__ __forceinline__ float factor(float from, float to) {
  float power;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(from - to));
  return power;
}

// The first kLanes lanes get the result.
template <class S>
__device__ __forceinline__ void merge_lanes(Softmax<S::kElements> (&heads)[S::kHeads]) {
#pragma unroll
  for (int distance = S::kLanes; distance < kWarp; distance *= 2) {
#pragma unroll
    for (auto& head : heads) {
      const float other = __shfl_xor_sync(0xffffffffu, head.largest, distance);
      const float largest = fmaxf(head.largest, other);
      const float mine = factor(head.largest, largest);
      const float theirs = factor(other, largest);
      head.total = mine * head.total + theirs * __shfl_xor_sync(0xffffffffu, head.total, distance);
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
    const Raw<typename S::T, S::kWidth> (&v)[S::kSteps][S::kVectors],
    const bool (&valid)[S::kSteps], float softcap, Softmax<S::kElements> (&heads)[S::kHeads]) {
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
    const float shrink = factor(heads[h].largest, largest);
    heads[h].largest = largest;
    heads[h].total *= shrink;
    for (float& sum : heads[h].sums) sum *= shrink;
#pragma unroll
    for (int step = 0; step < S::kSteps; ++step) {
      scores[h][step] = factor(scores[h][step], largest);
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

// Element d of `count` results, each kDims sums, then largest and total. part(i) is the i-th.
template <int kDims, class Part>
__device__ __forceinline__ Softmax<1> merged(int count, int d, const Part& part) {
  Softmax<1> all;
  for (int i = 0; i < count; ++i) all.largest = fmaxf(all.largest, part(i)[kDims]);
  for (int i = 0; i < count; ++i) {
    const float* one = part(i);
    const float weight = factor(one[kDims], all.largest);
    all.total += weight * one[kDims + 1];
    all.sums[0] += weight * one[d];
  }
  return all;
}

// The grid is (blocks of a cluster, groups · head tiles, N). Only the new token's heads come from
// the kernel before; what else is read was there before the step.
template <class S>
__global__ void __launch_bounds__(S::kThreads) attention_kernel(const __grid_constant__ Call call) {
  using T = typename S::T;
  constexpr int kStride = S::kDims + 2, kWarps = S::kWarps, kThreads = S::kThreads;
  __shared__ float of_warps[kWarps][S::kHeads][kStride];
  __shared__ float of_block[S::kHeads][kStride];
  let_next_start();
  const int64_t row = blockIdx.z;
  const int D = call.D, end = call.ends[row];
  if (end == 0) return;  // no row
  const int first = call.window > 0 ? max(0, end - call.window) : 0;
  const int first_page = first / kPage, num_pages = (end + kPage - 1) / kPage - first_page;
  const int blocks = static_cast<int>(gridDim.x);
  const int pages_of_one = (num_pages + blocks - 1) / blocks;
  const int tiles = static_cast<int>(gridDim.y) / call.groups;
  const int group = static_cast<int>(blockIdx.y) / tiles,
            tile = static_cast<int>(blockIdx.y) % tiles;
  const int head = group * call.in_group + tile * S::kHeads;  // its first
  const int num_heads = min(S::kHeads, call.in_group - tile * S::kHeads);

  const int thread = static_cast<int>(threadIdx.x), warp = thread / kWarp, lane = thread % kWarp;
  const int place = lane % S::kLanes, key_of_lane = lane / S::kLanes;
  const auto column = [&](int vector) { return (vector * S::kLanes + place) * S::kWidth; };

  const int begin = (first_page + static_cast<int>(blockIdx.x) * pages_of_one) * kPage;
  const int stop = min(end, begin + pages_of_one * kPage);
  const int32_t* ids = call.page_ids + call.first_pages[row];
  Raw<T, S::kWidth> k[S::kSteps][S::kVectors], v[S::kSteps][S::kVectors];
  const auto keys_of = [&](int unit) {
    return static_cast<const T*>(call.pages) +
           page_offset(ids[unit / kPage], group, call.groups, D);
  };
  // Into the L2, for the next round.
  const auto prefetch = [&](int unit) {
    constexpr int kLine = 128 / (S::kWidth * static_cast<int>(sizeof(T)));  // lanes
    if (unit >= stop || place % kLine > 0 || column(0) >= D) return;
    const T* keys = keys_of(unit) + column(0);
#pragma unroll
    for (int step = 0; step < S::kSteps; ++step) {
      const T* from = keys + (unit + step * S::kKeys + key_of_lane) % kPage * D;
      asm volatile("prefetch.global.L2 [%0];" ::"l"(from));
      asm volatile("prefetch.global.L2 [%0];" ::"l"(from + kPage * D));
    }
  };
  // All keys of the unit but the new one.
  const auto load_old = [&](int unit) {
    const T* keys = keys_of(unit);
#pragma unroll
    for (int step = 0; step < S::kSteps; ++step) {
      const int token = unit + step * S::kKeys + key_of_lane;
#pragma unroll
      for (int vector = 0; vector < S::kVectors; ++vector) {
        // What was never written may be NaN.
        k[step][vector] = v[step][vector] = {};
        if (token < first || token >= min(stop, end - 1) || column(vector) >= D) continue;
        const T* from = keys + token % kPage * D + column(vector);
        k[step][vector] = load_raw<S::kWidth>(from);
        v[step][vector] = load_raw<S::kWidth>(from + kPage * D);
      }
    }
    prefetch(unit + kWarps * S::kUnit);
  };
  const auto load_new = [&](int unit) {
#pragma unroll
    for (int step = 0; step < S::kSteps; ++step) {
      if (unit + step * S::kKeys + key_of_lane != end - 1) continue;
      T* to = static_cast<T*>(call.pages) +
              page_offset(ids[(end - 1) / kPage], group, call.groups, D) + (end - 1) % kPage * D;
#pragma unroll
      for (int vector = 0; vector < S::kVectors; ++vector) {
        if (column(vector) >= D) continue;
        k[step][vector] = load_raw<S::kWidth>(static_cast<const T*>(call.k) + row * call.k_row +
                                              group * call.k_head + column(vector));
        v[step][vector] = load_raw<S::kWidth>(static_cast<const T*>(call.v) + row * call.v_row +
                                              group * call.v_head + column(vector));
        if (tile > 0) continue;
        *reinterpret_cast<Raw<T, S::kWidth>*>(to + column(vector)) = k[step][vector];
        *reinterpret_cast<Raw<T, S::kWidth>*>(to + kPage * D + column(vector)) = v[step][vector];
      }
    }
  };

  int unit = begin + warp * S::kUnit;
  if (unit < stop) load_old(unit);
  wait_for_previous();
  Lanes<T, S::kWidth> q[S::kHeads][S::kVectors];
#pragma unroll
  for (int h = 0; h < S::kHeads; ++h)
#pragma unroll
    for (int vector = 0; vector < S::kVectors; ++vector) {
      q[h][vector] = {};
      if (h >= num_heads || column(vector) >= D) continue;
      const T* from = static_cast<const T*>(call.q) + row * call.q_row + (head + h) * call.q_head +
                      column(vector);
      q[h][vector] = load_lanes<S::kWidth>(from);
#pragma unroll
      for (int i = 0; i < S::kWidth; ++i) q[h][vector].v[i] *= call.scale;
    }
  Softmax<S::kElements> heads[S::kHeads];
  while (unit < stop) {
    if (unit + S::kUnit >= end) load_new(unit);
    bool valid[S::kSteps];
#pragma unroll
    for (int step = 0; step < S::kSteps; ++step) {
      const int token = unit + step * S::kKeys + key_of_lane;
      valid[step] = token >= first && token < stop;
    }
    add_keys<S>(q, k, v, valid, call.softcap, heads);
    unit += kWarps * S::kUnit;
    if (unit < stop) load_old(unit);
  }

  merge_lanes<S>(heads);
  if (key_of_lane == 0) {
#pragma unroll
    for (int h = 0; h < S::kHeads; ++h) {
#pragma unroll
      for (int vector = 0; vector < S::kVectors; ++vector)
#pragma unroll
        for (int i = 0; i < S::kWidth; ++i)
          of_warps[warp][h][column(vector) + i] = heads[h].sums[vector * S::kWidth + i];
      if (place == 0) {
        of_warps[warp][h][S::kDims] = heads[h].largest;
        of_warps[warp][h][S::kDims + 1] = heads[h].total;
      }
    }
  }
  __syncthreads();

  const auto store = [&](int h, int d, const Softmax<1>& all) {
    static_cast<T*>(call.out)[row * call.out_row + (head + h) * call.out_head + d] =
        from_float<T>(all.sums[0] / all.total);
  };
  for (int i = thread; i < num_heads * D; i += kThreads) {
    const int h = i / D, d = i % D;
    const Softmax<1> all =
        merged<S::kDims>(kWarps, d, [&](int other) { return of_warps[other][h]; });
    if (blocks == 1) {
      store(h, d, all);
      continue;
    }
    of_block[h][d] = all.sums[0];
    if (d == 0) {
      of_block[h][S::kDims] = all.largest;
      of_block[h][S::kDims + 1] = all.total;
    }
  }
#if __CUDA_ARCH__ >= 900
  if (blocks == 1) return;
  const auto cluster = cooperative_groups::this_cluster();
  cluster.sync();
  for (int i = static_cast<int>(blockIdx.x) * kThreads + thread; i < num_heads * D;
       i += blocks * kThreads) {
    const int h = i / D, d = i % D;
    store(h, d, merged<S::kDims>(blocks, d, [&](int other) {
            return cluster.map_shared_rank(&of_block[h][0], static_cast<unsigned>(other));
          }));
  }
  cluster.sync();  // others may still read this block's
#endif
}

}  // namespace ingot::cuda::decode
