// Shared by the kernels of attention's backward pass on Hopper: blocks of 128 tokens of heads of
// 64, with two warpgroups that compute and a thread that fetches; also the kernels before and after
// them. The main kernels are in hopper_keys.cuh (dk and dv, optionally dq) and hopper_queries.cuh
// (dq alone).
#pragma once

#include <numbers>

#include "ops/cuda/attention/scratch.h"
#include "ops/cuda/hopper/instructions.cuh"
#include "ops/cuda/rope.cuh"
#include "ops/rope.h"

namespace ingot::cuda::hopper {

inline constexpr int kHeadWidth = kHopperHeadWidth;
inline constexpr int kBlockTokens = kHopperBlockTokens, kBlockBytes = kBlockTokens * kHeadWidth * 2;
inline constexpr int kAttentionGroups = 2, kWarpgroup = 128;  // threads
inline constexpr int kAttentionThreads = (kAttentionGroups + 1) * kWarpgroup;
inline constexpr int kGroupTokens = kBlockTokens / kAttentionGroups;
inline constexpr int kGroupBytes = kGroupTokens * kHeadWidth * 2;
inline constexpr int kSumsBytes = kGroupTokens * kHeadWidth * 4;  // of dq
inline constexpr int kFactorBytes = kBlockTokens * 4;             // a float for each query

// The angles by which dq and dk are rotated back before rounding.
struct RopeAngles {
  const float *cos, *sin;    // (context, 32), or null: no rotation
  const int32_t* positions;  // (B, T), or null: token t of each row is at t
  RopePairs pairs;
};

// The inputs of both kernels.
struct AttentionInputs {
  CUtensorMap q, d_out;       // (B, H, T, 64), boxes of kBlockTokens
  CUtensorMap k, v;           // (B, G, T, 64), the same
  const float *lse2, *delta;  // (B, H, T): log2 Σ exp(score), Σ dout·out
  int B, T, H, G;
  float scale, scale2;  // of scores, and times log2(e)
  RopeAngles rope;
};

__device__ __forceinline__ float exp2_approximate(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

__device__ __forceinline__ int load_int(uint32_t from) {
  int value;
  asm volatile("ld.shared.b32 %0, [%1];" : "=r"(value) : "r"(from) : "memory");
  return value;
}
__device__ __forceinline__ void store_int(uint32_t to, int value) {
  asm volatile("st.shared.b32 [%0], %1;" ::"r"(to), "r"(value) : "memory");
}

// The thread roles of a block: one thread fetches, the warpgroups compute while work is left.
template <class Places, class Worker, class Arguments, class Fetch>
__device__ __forceinline__ void run_attention(const Arguments& a, const Fetch& fetch) {
  extern __shared__ uint8_t shared[];
  const Places places(shared_address(shared));
  const int group = static_cast<int>(threadIdx.x) / kWarpgroup;
  if (threadIdx.x == 0) places.init_barriers();
  __syncthreads();
  if (group == kAttentionGroups) {
    give_registers<24>();
    if (threadIdx.x % kWarpgroup == 0) fetch(a, places);
    return;
  }
  take_registers<240>();
  Worker worker(a, places, group);
  while (worker.run()) {
  }
  worker.finish();
}

// Rotates a warp's 16 rows of 64 sums back, in the register layout of a GEMM's output. The rows are
// tokens of batch row `row`, T each, from `first` on. Both numbers of a pair are in one thread.
__device__ __forceinline__ void unrotate(float (&sums)[32], const RopeAngles& rope, int row, int T,
                                          int first) {
  if (rope.cos == nullptr) return;
  const bool halves = rope.pairs == RopePairs::HalfSplit;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const float *cos[2], *sin[2];  // of this thread's first pair, for its two tokens
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const int token = first + lane / 4 + 8 * half;
    const int64_t position =
        rope.positions != nullptr ? rope.positions[int64_t{row} * T + token] : token;
    const int64_t angle = position * (kHeadWidth / 2) + (halves ? lane % 4 * 2 : lane % 4);
    cos[half] = rope.cos + angle;
    sin[half] = rope.sin + angle;
  }
  if (halves) {
#pragma unroll
    for (int i = 0; i < 16; i += 2) {
      const int half = i / 2 % 2;
      const float2 c = *reinterpret_cast<const float2*>(cos[half] + i / 4 * 8);
      const float2 s = *reinterpret_cast<const float2*>(sin[half] + i / 4 * 8);
      turn(sums[i], sums[i + 16], c.x, -s.x);
      turn(sums[i + 1], sums[i + 17], c.y, -s.y);
    }
  } else {
#pragma unroll
    for (int i = 0; i < 32; i += 2) {
      const int half = i / 2 % 2;
      turn(sums[i], sums[i + 1], cos[half][i / 4 * 4], -sin[half][i / 4 * 4]);
    }
  }
}

// lse2 and delta from out(B, T, H, 64) and d_out, which have the same layout. One warp per token,
// eight lanes per head.
__global__ void attention_factors_kernel(const __nv_bfloat16* out, const __nv_bfloat16* d_out,
                                         int64_t row_stride, int64_t token_stride,
                                         const float* lse, int B, int T, int H, float* lse2,
                                         float* delta) {
  const int64_t n = (int64_t{blockIdx.x} * blockDim.x + threadIdx.x) / 32;
  if (n >= int64_t{B} * T) return;
  const int64_t row = n / T, token = n % T;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  for (int first = 0; first < H; first += 4) {
    const int head = first + lane / 8;
    float sum = 0.0f;
    if (head < H) {
      const int64_t at = row * row_stride + token * token_stride + head * kHeadWidth + lane % 8 * 8;
      const uint4 x = *reinterpret_cast<const uint4*>(out + at);
      const uint4 y = *reinterpret_cast<const uint4*>(d_out + at);
      const uint32_t xs[4] = {x.x, x.y, x.z, x.w}, ys[4] = {y.x, y.y, y.z, y.w};
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const float2 p = unpack(xs[i]), q = unpack(ys[i]);
        sum += p.x * q.x + p.y * q.y;
      }
    }
#pragma unroll
    for (int other = 4; other > 0; other /= 2) sum += __shfl_xor_sync(~0u, sum, other);
    if (head >= H || lane % 8 != 0) continue;
    const int64_t to = (row * H + head) * T + token;
    delta[to] = sum;
    lse2[to] = std::numbers::log2e_v<float> * lse[to];
  }
}

// dq(B, T, H, 64) from its sums in the layout of AttentionBackward::dq; a block of 128 threads
// handles 64 tokens of a head.
__global__ void round_queries_kernel(const float* sums, float scale, RopeAngles rope, int T, int H,
                                     int64_t row_stride, int64_t token_stride, __nv_bfloat16* dq) {
  const int blocks = T / kGroupTokens, block = static_cast<int>(blockIdx.x) % blocks;
  const int row = static_cast<int>(blockIdx.x) / blocks / H;
  const int head = static_cast<int>(blockIdx.x) / blocks % H;
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const float4* from = reinterpret_cast<const float4*>(sums) +
                       int64_t{blockIdx.x} * (kGroupTokens * kHeadWidth / 4) + threadIdx.x;
  float mine[32];
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    const float4 four = from[i * kWarpgroup];
    mine[4 * i] = four.x;
    mine[4 * i + 1] = four.y;
    mine[4 * i + 2] = four.z;
    mine[4 * i + 3] = four.w;
  }
  const int token = block * kGroupTokens + warp * 16;
  unrotate(mine, rope, row, T, token);
  store_sums(mine, scale, dq + row * row_stride + token * token_stride + head * kHeadWidth,
             token_stride);
}

}  // namespace ingot::cuda::hopper
