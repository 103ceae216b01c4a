// dq alone, summed in a fixed order: a block handles 128 queries of a head, 64 in each of two
// warpgroups, and iterates over every block of 128 keys that they see, from the first on. It
// computes scores and the gradients of weights a second time; hopper_keys.cuh computes dk and dv.
#pragma once

#include <type_traits>

#include "ops/cuda/attention/hopper.cuh"

namespace ingot::cuda::hopper {

struct AttentionQueries : AttentionInputs {
  __nv_bfloat16* dq;       // (B, T, H, 64)
  int64_t d_row, d_token;  // its strides
  int* next;               // zeroed before: counts the blocks of queries taken

  __device__ int num_blocks() const { return B * H * (T / kBlockTokens); }  // of queries
};

// In shared memory: two stages of q and d_out, three of k and v, barriers, two numbers.
struct QueryPlaces {
  static constexpr int kStages = 2, kKeyStages = 3;
  static constexpr int kBytes =
      1024 + 2 * (kStages + kKeyStages) * kBlockBytes + 16 * (kStages + kKeyStages) + 8 * kStages;

  __device__ explicit QueryPlaces(uint32_t shared)
      : q((shared + 1023) & ~1023u),
        d_out(q + kStages * kBlockBytes),
        k(d_out + kStages * kBlockBytes),
        v(k + kKeyStages * kBlockBytes),
        q_full(v + kKeyStages * kBlockBytes),
        q_free(q_full + 8 * kStages),
        keys_full(q_free + 8 * kStages),
        keys_free(keys_full + 8 * kKeyStages),
        taken(keys_free + 8 * kKeyStages) {}

  __device__ void init_barriers() const {
    constexpr int kWarps = kAttentionGroups * kWarpgroup / 32;
    for (int stage = 0; stage < kStages; ++stage) {
      barrier_init(q_full + 8 * stage, 1);
      barrier_init(q_free + 8 * stage, kWarps);
    }
    for (int stage = 0; stage < kKeyStages; ++stage) {
      barrier_init(keys_full + 8 * stage, 1);
      barrier_init(keys_free + 8 * stage, kWarps);
    }
    barrier_init_fence();
  }

  uint32_t q, d_out, k, v, q_full, q_free, keys_full, keys_free;
  uint32_t taken;  // the block of queries that q_full announces
};

// Work item n: heads that share keys are consecutive, and the queries that see most keys come
// first.
struct QueryBlock {
  __device__ QueryBlock(const AttentionQueries& a, int n) {
    const int blocks = a.T / kBlockTokens, heads = a.H / a.G;
    const int group = n / (heads * blocks), within = n % (heads * blocks);
    block = blocks - 1 - within / heads;
    head = group % a.G * heads + within % heads;
    row = group / a.G;
  }
  int row, head, block;
};

// One warpgroup's queries.
class QueryWorker {
 public:
  __device__ QueryWorker(const AttentionQueries& arguments, const QueryPlaces& places, int group)
      : a_(arguments),
        at_(places),
        group_(group),
        warp_(static_cast<int>(threadIdx.x) % kWarpgroup / 32),
        lane_(static_cast<int>(threadIdx.x) % 32) {}

  // The next block of queries; false if there is none.
  __device__ bool run() {
    barrier_wait(at_.q_full + 8 * place_.stage, place_.parity);
    const int n = load_int(at_.taken + 8 * place_.stage);
    if (n >= a_.num_blocks()) return false;
    const QueryBlock queries(a_, n);
    const int first = queries.block * kBlockTokens + group_ * kGroupTokens + warp_ * 16;
    const int64_t token = (int64_t{queries.row} * a_.H + queries.head) * a_.T + first + lane_ / 4;
    const float lse2[2] = {a_.lse2[token], a_.lse2[token + 8]};
    const float delta[2] = {a_.delta[token], a_.delta[token + 8]};
    float dq[32];  // (64 queries, 64), in the layout of a GEMM's output
    process(queries.block == 0, lse2, delta, dq, std::true_type{});
    for (int block = 1; block <= queries.block; ++block)
      process(block == queries.block, lse2, delta, dq, std::false_type{});
    wgmma_wait<0>();
    wgmma_read(dq);
    barrier_arrive_as_warp(lane_, at_.keys_free + 8 * before_);
    barrier_arrive_as_warp(lane_, at_.q_free + 8 * place_.stage);
    place_.advance();
    unrotate(dq, a_.rope, queries.row, a_.T, first);
    store_sums(dq, a_.scale,
               a_.dq + queries.row * a_.d_row + first * a_.d_token + queries.head * kHeadWidth,
               a_.d_token);
    return true;
  }
  __device__ void finish() const {}

 private:
  // Processes one block of keys.
  template <class First>
  __device__ __forceinline__ void process(bool diagonal, const float (&lse2)[2],
                                       const float (&delta)[2], float (&dq)[32], First) {
    const int stage = keys_.stage;
    const uint32_t k = at_.k + stage * kBlockBytes, v = at_.v + stage * kBlockBytes;
    float scores[64], d_weights[64];  // (64 queries, 128 keys)
    barrier_wait(at_.keys_full + 8 * stage, keys_.parity);
    multiply(scores, at_.q, k);
    multiply(d_weights, at_.d_out, v);
    wgmma_wait<1>();
    wgmma_read(scores);
    if constexpr (!First::value) barrier_arrive_as_warp(lane_, at_.keys_free + 8 * before_);
#pragma unroll
    for (int i = 0; i < 64; ++i)
      scores[i] = exp2_approximate(fmaf(scores[i], a_.scale2, -lse2[i / 2 % 2]));
    if (diagonal) {
      const int query = group_ * kGroupTokens + warp_ * 16 + lane_ / 4, key = 2 * (lane_ % 4);
#pragma unroll
      for (int i = 0; i < 64; ++i)
        if (key + 8 * (i / 4) + i % 2 > query + 8 * (i / 2 % 2)) scores[i] = 0.0f;
    }
    wgmma_wait<0>();
    wgmma_read(d_weights);
#pragma unroll
    for (int i = 0; i < 32; ++i) {
      const float2 w = unpack(pack(scores[2 * i], scores[2 * i + 1]));  // rounded as for dk and dv
      d_scores_[i] = pack(w.x * (d_weights[2 * i] - delta[i % 2]),
                          w.y * (d_weights[2 * i + 1] - delta[i % 2]));
    }
    wgmma_begin();
#pragma unroll
    for (int i = 0; i < kBlockTokens / 16; ++i)
      multiply_held_64x64(dq, d_scores_ + 4 * i, matrix_descriptor(k + i * 16 * 128, kBlockBytes),
                          First::value && i == 0);
    wgmma_commit();
    before_ = stage;
    keys_.advance();
  }

  // sums(64 queries, 128 keys) = this group's queries · keysᵀ
  __device__ __forceinline__ void multiply(float (&sums)[64], uint32_t queries,
                                           uint32_t keys) const {
    const uint32_t mine = queries + place_.stage * kBlockBytes + group_ * kGroupBytes;
    wgmma_begin();
#pragma unroll
    for (int i = 0; i < kHeadWidth / 16; ++i)
      multiply_64x128(sums, matrix_descriptor(mine + 32 * i, 0),
                      matrix_descriptor(keys + 32 * i, 0), i == 0);
    wgmma_commit();
  }

  const AttentionQueries& a_;
  const QueryPlaces& at_;
  int group_, warp_, lane_;
  uint32_t d_scores_[32];  // (64 queries, 128 keys), operands of GEMMs in flight
  Place<QueryPlaces::kStages> place_;
  Place<QueryPlaces::kKeyStages> keys_;
  int before_ = 0;  // the stage of keys whose GEMMs are in flight
};

// Run by one thread: fetches queries and the keys they see, block after block.
__device__ inline void fetch_queries(const AttentionQueries& a, const QueryPlaces& at) {
  Place<QueryPlaces::kStages> place;
  Place<QueryPlaces::kKeyStages> keys;
  for (;;) {
    const int n = atomicAdd(a.next, 1);
    const uint32_t q_full = at.q_full + 8 * place.stage;
    barrier_wait(at.q_free + 8 * place.stage, place.parity ^ 1);
    store_int(at.taken + 8 * place.stage, n);
    if (n >= a.num_blocks()) {
      barrier_arrive(q_full);
      return;
    }
    const QueryBlock queries(a, n);
    const Box4 box{0, queries.block * kBlockTokens, queries.head, queries.row};
    barrier_expect(q_full, 2 * kBlockBytes);
    load_box(&a.q, box, at.q + place.stage * kBlockBytes, q_full);
    load_box(&a.d_out, box, at.d_out + place.stage * kBlockBytes, q_full);
    place.advance();
    for (int block = 0; block <= queries.block; ++block, keys.advance()) {
      const uint32_t full = at.keys_full + 8 * keys.stage;
      const Box4 from{0, block * kBlockTokens, queries.head / (a.H / a.G), queries.row};
      barrier_wait(at.keys_free + 8 * keys.stage, keys.parity ^ 1);
      barrier_expect(full, 2 * kBlockBytes);
      load_box(&a.k, from, at.k + keys.stage * kBlockBytes, full);
      load_box(&a.v, from, at.v + keys.stage * kBlockBytes, full);
    }
  }
}

__global__ void __launch_bounds__(kAttentionThreads, 1)
    attention_queries_kernel(const __grid_constant__ AttentionQueries a) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  run_attention<QueryPlaces, QueryWorker>(a, fetch_queries);
#endif
}

}  // namespace ingot::cuda::hopper
