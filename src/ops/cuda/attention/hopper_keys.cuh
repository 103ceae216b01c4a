// The backward pass of causal attention over whole rows, for heads of 64 in bf16: dk and dv, and in
// one form of the kernel dq. (hopper_queries.cuh computes dq alone.)
//
// A block handles 128 keys of one group of heads and iterates over every block of 128 queries that
// sees them. Each of its two warpgroups holds 64 of the keys. Scores have keys as rows, so that
// weights and the gradients of scores are register operands of the GEMMs for dv and dk. For dq the
// gradients of scores also go to shared memory, where those of both groups are combined: each group
// multiplies them with all 128 keys for half of the queries. The result is a part of dq, added to
// F32 in global memory in no fixed order. One warp fetches queries two blocks ahead. A block takes
// the next keys when it is done with its own; keys that most queries see come first.
#pragma once

#include <type_traits>

#include "ops/cuda/attention/hopper.cuh"

namespace ingot::cuda::hopper {

struct AttentionBackward : AttentionInputs {
  __nv_bfloat16 *dk, *dv;  // (B, T, G, 64)
  int64_t d_row, d_token;  // their strides
  // If not null: (B, H, T/64, 8, 128, 4), zeroed before: thread t's part of eight columns.
  float* dq;
  int* next;           // zeroed before: counts the blocks of keys taken
  int groups_at_once;  // groups whose rows fit in the L2 together

  __device__ int num_blocks() const { return B * G * (T / kBlockTokens); }  // of keys
};

// In shared memory: k, v; two stages of q, d_out and their factors; two of the gradients of scores,
// (2 halves of the queries, keys, 64 queries); dq of each group before it is sent; barriers; a
// number.
struct AttentionPlaces {
  static constexpr int kStages = 2;
  static constexpr int kBarriers = 2 + 6 * kStages;
  static constexpr int kBytes = 1024 + 2 * kBlockBytes + 4 * kStages * kBlockBytes +
                                kAttentionGroups * kSumsBytes + 2 * kStages * kFactorBytes +
                                8 * kBarriers + 8;

  __device__ explicit AttentionPlaces(uint32_t shared)
      : k((shared + 1023) & ~1023u),
        v(k + kBlockBytes),
        q(v + kBlockBytes),
        d_out(q + kStages * kBlockBytes),
        d_scores(d_out + kStages * kBlockBytes),
        dq(d_scores + 2 * kStages * kBlockBytes),
        lse2(dq + kAttentionGroups * kSumsBytes),
        delta(lse2 + kStages * kFactorBytes),
        keys_full(delta + kStages * kFactorBytes),
        keys_free(keys_full + 8),
        q_full(keys_free + 8),
        q_free(q_full + 8 * kStages),
        d_out_full(q_free + 8 * kStages),
        d_out_free(d_out_full + 8 * kStages),
        d_scores_full(d_out_free + 8 * kStages),
        d_scores_free(d_scores_full + 8 * kStages),
        taken(d_scores_free + 8 * kStages) {}

  // Barriers that threads signal are signalled once per warp.
  __device__ void init_barriers() const {
    constexpr int kWarps = kAttentionGroups * kWarpgroup / 32;
    barrier_init(keys_full, 1);
    barrier_init(keys_free, kWarps);
    for (int stage = 0; stage < kStages; ++stage) {
      barrier_init(q_full + 8 * stage, 1);
      barrier_init(d_out_full + 8 * stage, 1);
      barrier_init(q_free + 8 * stage, kWarps);
      barrier_init(d_out_free + 8 * stage, kWarps);
      barrier_init(d_scores_full + 8 * stage, kWarps);
      barrier_init(d_scores_free + 8 * stage, kWarps);
    }
    barrier_init_fence();
  }

  uint32_t k, v, q, d_out, d_scores, dq, lse2, delta;
  uint32_t keys_full, keys_free, q_full, q_free, d_out_full, d_out_free, d_scores_full,
      d_scores_free;
  uint32_t taken;  // the block of keys that keys_full announces
};

// Work item n: keys that most queries see come first, with few enough heads at a time that the L2
// holds them.
struct KeyBlock {
  __device__ KeyBlock(const AttentionBackward& a, int n) {
    const int all = a.B * a.G, turn = n / (a.groups_at_once * (a.T / kBlockTokens));
    const int first = turn * a.groups_at_once, groups = min(a.groups_at_once, all - first);
    const int within = n - first * (a.T / kBlockTokens);
    block = within / groups;
    const int group_of_all = first + within % groups;
    row = group_of_all / a.G;
    group = group_of_all % a.G;
  }
  int row, group;  // of the batch, of heads
  int block;
};

// Iterates over the queries that see a block of keys, block by block, head after head.
struct QueryWalk {
  __device__ QueryWalk(const AttentionBackward& a, const KeyBlock& keys)
      : first(keys.block),
        blocks(a.T / kBlockTokens),
        head(keys.group * (a.H / a.G)),
        end(head + a.H / a.G),
        block(first) {}
  __device__ bool more() const { return head < end; }
  __device__ void advance() {
    if (++block < blocks) return;
    block = first;
    ++head;
  }
  // Index into (B, H, T).
  __device__ int64_t token(const AttentionBackward& a, int row) const {
    return (int64_t{row} * a.H + head) * a.T + block * kBlockTokens;
  }

  int first, blocks, head, end, block;
};

__device__ __forceinline__ float2 load_floats(uint32_t from) {
  float2 pair;
  asm volatile("ld.shared.v2.f32 {%0, %1}, [%2];" : "=f"(pair.x), "=f"(pair.y) : "r"(from));
  return pair;
}

__device__ __forceinline__ void store_floats(uint32_t to, const float* v) {
  asm volatile("st.shared.v4.f32 [%0], {%1, %2, %3, %4};" ::"r"(to), "f"(v[0]), "f"(v[1]),
               "f"(v[2]), "f"(v[3])
               : "memory");
}

// One warpgroup's keys.
template <bool kQueries>  // dq too
class AttentionWorker {
 public:
  __device__ AttentionWorker(const AttentionBackward& arguments, const AttentionPlaces& places,
                             int group)
      : a_(arguments),
        at_(places),
        group_(group),
        thread_(static_cast<int>(threadIdx.x) % kWarpgroup),
        warp_(thread_ / 32),
        lane_(thread_ % 32) {}

  // The next block of keys; false if there is none.
  __device__ bool run() {
    barrier_wait(at_.keys_full, keys_parity_);
    keys_parity_ ^= 1;
    const int n = load_int(at_.taken);
    if (n >= a_.num_blocks()) return false;
    const KeyBlock keys(a_, n);
    float dk[32], dv[32];  // (64 keys, 64), in the layout of a GEMM's output
    QueryWalk walk(a_, keys);
    process(keys, walk, dk, dv, std::true_type{});
    for (walk.advance(); walk.more(); walk.advance()) process(keys, walk, dk, dv, std::false_type{});
    wgmma_read(dk);
    wgmma_read(dv);
    barrier_arrive_as_warp(lane_, at_.keys_free);
    const int token = keys.block * kBlockTokens + group_ * kGroupTokens + warp_ * 16;
    const int64_t to = keys.row * a_.d_row + token * a_.d_token + keys.group * kHeadWidth;
    store_sums(dv, 1.0f, a_.dv + to, a_.d_token);
    unrotate(dk, a_.rope, keys.row, a_.T, token);
    store_sums(dk, a_.scale, a_.dk + to, a_.d_token);
    return true;
  }

  // Shared memory must stay valid until the last sums were read from it.
  __device__ void finish() const {
    if (thread_ == 0) wait_stores_read<0>();
  }

 private:
  __device__ void wait_for_group() const {
    asm volatile("bar.sync %0, %1;" ::"r"(group_ + 1), "n"(kWarpgroup) : "memory");
  }

  // Processes one block of queries.
  template <class First>
  __device__ __forceinline__ void process(const KeyBlock& keys, const QueryWalk& walk,
                                       float (&dk)[32], float (&dv)[32], First first) {
    const int stage = place_.stage;
    const uint32_t q = at_.q + stage * kBlockBytes, d_out = at_.d_out + stage * kBlockBytes;
    float scores[64], d_weights[64];  // (64 keys, 128 queries)
    uint32_t weights[32], d_scores[32];

    barrier_wait(at_.q_full + 8 * stage, place_.parity);
    multiply_by_queries(scores, at_.k, q);
    barrier_wait(at_.d_out_full + 8 * stage, place_.parity);
    multiply_by_queries(d_weights, at_.v, d_out);
    wgmma_wait<1>();
    wgmma_read(scores);
    weigh(scores, at_.lse2 + stage * kFactorBytes, walk.block == keys.block);
#pragma unroll
    for (int i = 0; i < 32; ++i) weights[i] = pack(scores[2 * i], scores[2 * i + 1]);
    add_over_queries(dv, weights, d_out, first);
    wgmma_wait<1>();
    wgmma_read(d_weights);
    derive(weights, d_weights, at_.delta + stage * kFactorBytes, d_scores);
    if constexpr (kQueries) share(d_scores);
    add_over_queries(dk, d_scores, q, first);
    float dq[32];  // (64 queries, 64)
    if constexpr (kQueries) {
      multiply_by_keys(dq);
      wgmma_wait<1>();
    } else {
      wgmma_wait<0>();
    }
    barrier_arrive_as_warp(lane_, at_.q_free + 8 * stage);
    barrier_arrive_as_warp(lane_, at_.d_out_free + 8 * stage);
    if constexpr (kQueries) {
      wgmma_wait<0>();
      wgmma_read(dq);
      barrier_arrive_as_warp(lane_, at_.d_scores_free + 8 * stage);
      send(dq, a_.dq + (walk.token(a_, keys.row) + group_ * kGroupTokens) * kHeadWidth);
    }
    place_.advance();
  }

  // sums(64 keys, 128 queries) = this group's keys · queriesᵀ
  __device__ __forceinline__ void multiply_by_queries(float (&sums)[64], uint32_t keys,
                                                      uint32_t queries) const {
    wgmma_begin();
#pragma unroll
    for (int i = 0; i < kHeadWidth / 16; ++i)
      multiply_64x128(sums, matrix_descriptor(keys + group_ * kGroupBytes + 32 * i, 0),
                      matrix_descriptor(queries + 32 * i, 0), i == 0);
    wgmma_commit();
  }

  // sums(64 keys, 64) += held(64 keys, 128 queries) · queries
  template <class First>
  __device__ __forceinline__ void add_over_queries(float (&sums)[32], const uint32_t (&held)[32],
                                                   uint32_t queries, First) const {
    wgmma_begin();
#pragma unroll
    for (int i = 0; i < kBlockTokens / 16; ++i)
      multiply_held_64x64(sums, held + 4 * i, matrix_descriptor(queries + i * 16 * 128, kBlockBytes),
                          First::value && i == 0);
    wgmma_commit();
  }

  // dq(64 queries, 64) = gradients of the scores of all 128 keys · keys
  __device__ __forceinline__ void multiply_by_keys(float (&dq)[32]) const {
    const uint32_t d_scores = at_.d_scores + (2 * place_.stage + group_) * kBlockBytes;
    barrier_wait(at_.d_scores_full + 8 * place_.stage, place_.parity);
    wgmma_begin();
#pragma unroll
    for (int i = 0; i < kBlockTokens / 16; ++i)
      multiply_across_64x64(dq, matrix_descriptor(d_scores + i * 16 * 128, kBlockBytes),
                            matrix_descriptor(at_.k + i * 16 * 128, kBlockBytes), i == 0);
    wgmma_commit();
  }

  // Replaces scores by weights.
  __device__ __forceinline__ void weigh(float (&scores)[64], uint32_t lse2, bool diagonal) const {
#pragma unroll
    for (int j = 0; j < 16; ++j) {
      const float2 sum = load_floats(lse2 + 32 * j + 8 * (lane_ % 4));
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        float& x = scores[4 * j + i];
        x = exp2_approximate(fmaf(x, a_.scale2, i % 2 == 0 ? -sum.x : -sum.y));
      }
    }
    if (!diagonal) return;
    const int key = group_ * kGroupTokens + warp_ * 16 + lane_ / 4, query = 2 * (lane_ % 4);
#pragma unroll
    for (int i = 0; i < 64; ++i)
      if (key + 8 * (i / 2 % 2) > query + 8 * (i / 4) + i % 2) scores[i] = 0.0f;
  }

  // d_scores = weights · (d_weights - delta), rounded
  __device__ __forceinline__ void derive(const uint32_t (&weights)[32], const float (&d_weights)[64],
                                         uint32_t delta, uint32_t (&d_scores)[32]) const {
#pragma unroll
    for (int j = 0; j < 16; ++j) {
      const float2 sum = load_floats(delta + 32 * j + 8 * (lane_ % 4));
#pragma unroll
      for (int i = 2 * j; i < 2 * j + 2; ++i) {
        const float2 w = unpack(weights[i]);
        d_scores[i] =
            pack(w.x * (d_weights[2 * i] - sum.x), w.y * (d_weights[2 * i + 1] - sum.y));
      }
    }
  }

  // Stores to shared memory, with queries along the rows.
  __device__ __forceinline__ void share(const uint32_t (&d_scores)[32]) const {
    const int key = group_ * kGroupTokens + warp_ * 16 + lane_ % 16;
    const uint32_t row = at_.d_scores + 2 * place_.stage * kBlockBytes + key * 128;
    barrier_wait(at_.d_scores_free + 8 * place_.stage, place_.parity ^ 1);
#pragma unroll
    for (int j = 0; j < 16; j += 2) {  // of 8 queries
      const int chunk = (j + lane_ / 16) % 8;
      const uint32_t four[4] = {d_scores[2 * j], d_scores[2 * j + 1], d_scores[2 * j + 2],
                                d_scores[2 * j + 3]};
      store_matrices(row + j / 8 * kBlockBytes + ((chunk ^ (key % 8)) << 4), four);
    }
    fence_for_stores();
    barrier_arrive_as_warp(lane_, at_.d_scores_full + 8 * place_.stage);
  }

  // In thread order, which round_queries_kernel expects.
  __device__ __forceinline__ void send(const float (&dq)[32], float* to) const {
    const uint32_t from = at_.dq + group_ * kSumsBytes;
    if (thread_ == 0) wait_stores_read<0>();
    wait_for_group();
#pragma unroll
    for (int i = 0; i < 8; ++i) store_floats(from + (i * kWarpgroup + thread_) * 16, dq + 4 * i);
    fence_for_stores();
    wait_for_group();
    if (thread_ == 0) {
      add_floats(from, kSumsBytes, to);
      commit_stores();
    }
  }

  const AttentionBackward& a_;
  const AttentionPlaces& at_;
  int group_, thread_, warp_, lane_;
  uint32_t keys_parity_ = 0;
  Place<AttentionPlaces::kStages> place_;  // of queries and of the gradients of scores
};

// Run by one thread: fetches keys and the queries that see them, block after block.
__device__ inline void fetch_attention(const AttentionBackward& a, const AttentionPlaces& at) {
  uint32_t keys_parity = 0;
  Place<AttentionPlaces::kStages> place;
  for (;;) {
    const int n = atomicAdd(a.next, 1);
    barrier_wait(at.keys_free, keys_parity ^ 1);
    store_int(at.taken, n);
    if (n >= a.num_blocks()) {
      barrier_arrive(at.keys_full);
      return;
    }
    const KeyBlock keys(a, n);
    barrier_expect(at.keys_full, 2 * kBlockBytes);
    const Box4 box{0, keys.block * kBlockTokens, keys.group, keys.row};
    load_box(&a.k, box, at.k, at.keys_full);
    load_box(&a.v, box, at.v, at.keys_full);
    keys_parity ^= 1;
    for (QueryWalk walk(a, keys); walk.more(); walk.advance(), place.advance()) {
      const int stage = place.stage;
      const Box4 queries{0, walk.block * kBlockTokens, walk.head, keys.row};
      const int64_t token = walk.token(a, keys.row);
      const auto fetch = [&](const CUtensorMap& map, uint32_t to, const float* factors,
                             uint32_t factors_to, uint32_t full, uint32_t free) {
        barrier_wait(free + 8 * stage, place.parity ^ 1);
        barrier_expect(full + 8 * stage, kBlockBytes + kFactorBytes);
        load_box(&map, queries, to + stage * kBlockBytes, full + 8 * stage);
        load_bytes(factors + token, kFactorBytes, factors_to + stage * kFactorBytes,
                   full + 8 * stage);
      };
      fetch(a.q, at.q, a.lse2, at.lse2, at.q_full, at.q_free);
      fetch(a.d_out, at.d_out, a.delta, at.delta, at.d_out_full, at.d_out_free);
    }
  }
}

template <bool kQueries>
__global__ void __launch_bounds__(kAttentionThreads, 1)
    attention_backward_kernel(const __grid_constant__ AttentionBackward a) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  run_attention<AttentionPlaces, AttentionWorker<kQueries>>(a, fetch_attention);
#endif
}

}  // namespace ingot::cuda::hopper
