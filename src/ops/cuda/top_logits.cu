// Each pass leaves kTopLogits of every kTopChunk entries of a row, until one chunk is left.
#include "ops/top_logits.h"

#include "ops/cuda/common/device.cuh"
#include "ops/cuda/common/early.cuh"
#include "ops/kernels/top_logits.h"

namespace ingot::cuda {
namespace {

constexpr int kThreads = 256;
constexpr int kOwn = static_cast<int>(kTopChunk) / kThreads;  // entries of a thread
constexpr int kKept = static_cast<int>(kTopLogits);
enum Flag : uint32_t { kNotFinite = 1, kNotZero = 2 };

// Larger keys are likelier; 0 is no entry.
struct Entry {
  uint32_t key = 0;
  int32_t id = -1;
};

__device__ __forceinline__ uint32_t key_of(float logit) {
  const uint32_t bits = __float_as_uint(logit + 0.0f);  // both zeros are equal
  return bits & 0x80000000u ? ~bits : bits | 0x80000000u;
}
__device__ __forceinline__ float logit_of(uint32_t key) {
  return __uint_as_float(key & 0x80000000u ? key & 0x7fffffffu : ~key);
}

// The entries of a row: at first all its logits,
struct Logits {
  const float* logits;  // (N, V)
  int64_t V, below;
  float softcap;

  __device__ int64_t size() const { return V; }
  __device__ Entry load(int64_t row, int64_t i, uint32_t& flags) const {
    float logit = logits[row * V + i];
    if (!isfinite(logit)) flags |= kNotFinite;
    if (logit != 0) flags |= kNotZero;
    if (i >= below || isnan(logit)) return {};
    if (softcap > 0) logit = softcap * tanhf(logit / softcap);
    return {key_of(logit), static_cast<int32_t>(i)};
  }
};

// then what the chunks of the pass before kept.
struct Kept {
  Entry* entries;   // (N, chunks, kKept)
  uint32_t* flags;  // (N, chunks)
  int64_t chunks;

  __device__ int64_t size() const { return chunks * kKept; }
  __device__ Entry load(int64_t row, int64_t i, uint32_t& found) const {
    found |= flags[row * chunks + i / kKept];
    return entries[row * size() + i];
  }
  __device__ void store(int64_t row, int at, Entry entry) const {
    entries[(row * chunks + blockIdx.x) * kKept + at] = entry;
  }
  __device__ void store_flags(int64_t row, uint32_t found) const {
    flags[row * chunks + blockIdx.x] = found;
  }
};

struct Result {
  TopLogits* top;  // (N)

  __device__ void store(int64_t row, int at, Entry entry) const {
    top[row].ids[at] = {entry.id, entry.id < 0 ? 0.0f : logit_of(entry.key)};
  }
  __device__ void store_flags(int64_t row, uint32_t found) const {
    top[row].all_finite = (found & kNotFinite) == 0;
    top[row].all_zero = (found & kNotZero) == 0;
  }
};

// The key of the kKept-th likeliest of all threads' entries, 0 where there are fewer.
struct Last {
  uint32_t key;
  int room;  // how many entries with this key are kept
  int ties;  // how many there are
};

// Eight bits at a time, from the highest: counts the entries that begin with the bits found so far.
__device__ __forceinline__ Last find_last(const Entry (&own)[kOwn]) {
  static_assert(kThreads == 256, "a thread for each count");
  __shared__ int counts[kThreads], warps[kThreads / kWarp];
  __shared__ Last found;
  const int thread = static_cast<int>(threadIdx.x), lane = thread % kWarp, warp = thread / kWarp;
  Last last{0, kKept, 0};
#pragma unroll 1
  for (int shift = 24; shift >= 0; shift -= 8) {
    counts[thread] = 0;
    __syncthreads();
#pragma unroll
    for (const Entry& e : own)
      if (shift == 24 || e.key >> (shift + 8) == last.key)
        atomicAdd(&counts[e.key >> shift & 0xffu], 1);
    __syncthreads();
    // Entries with this thread's byte or a larger one; the first thread has the largest byte.
    const int byte = 255 - thread, mine = counts[byte];
    int sum = mine;
#pragma unroll
    for (int distance = 1; distance < kWarp; distance *= 2) {
      const int other = __shfl_up_sync(0xffffffffu, sum, distance);
      if (lane >= distance) sum += other;
    }
    if (lane == kWarp - 1) warps[warp] = sum;
    __syncthreads();
    for (int w = 0; w < warp; ++w) sum += warps[w];
    if (sum - mine < last.room && sum >= last.room)
      found = {last.key << 8 | static_cast<uint32_t>(byte), last.room - (sum - mine), mine};
    __syncthreads();
    last = found;
  }
  return last;
}

// An id such that `room` of the entries with this key have a smaller one. Bit by bit: many equal
// logits are rare.
__device__ __forceinline__ uint32_t first_id_out(const Entry (&own)[kOwn], const Last& last) {
  __shared__ int sums[kThreads / kWarp];
  uint32_t found = 0;
#pragma unroll 1
  for (int bit = 30; bit >= 0; --bit) {
    const uint32_t next = found | 1u << bit;
    int n = 0;
#pragma unroll
    for (const Entry& e : own) n += e.key == last.key && static_cast<uint32_t>(e.id) < next ? 1 : 0;
    if (block_sum<kThreads>(n, sums) <= last.room) found = next;
  }
  return found;
}

// The grid is (chunks, N).
template <class From, class To>
__global__ void __launch_bounds__(kThreads) keep_kernel(const From from, const To to) {
  __shared__ int num_kept;
  __shared__ uint32_t all_flags;
  let_next_start();
  wait_for_previous();
  const int64_t row = blockIdx.y, begin = int64_t{blockIdx.x} * kTopChunk;
  if (threadIdx.x == 0) {
    num_kept = 0;
    all_flags = 0;
  }
  uint32_t flags = 0;
  Entry own[kOwn];
#pragma unroll
  for (int i = 0; i < kOwn; ++i) {
    const int64_t at = begin + i * kThreads + threadIdx.x;
    if (at < from.size()) own[i] = from.load(row, at, flags);
  }
  const Last last = find_last(own);
  // Of the entries with the last key, those with an id below this are kept.
  constexpr uint32_t kAll = 0x7fffffff;
  const uint32_t first_out = last.key == 0            ? 0
                             : last.ties <= last.room ? kAll
                                                      : first_id_out(own, last);
  if (flags != 0) atomicOr(&all_flags, flags);
  __syncthreads();
#pragma unroll
  for (int i = 0; i < kOwn; ++i) {
    const Entry& e = own[i];
    if (e.key > last.key || (e.key == last.key && static_cast<uint32_t>(e.id) < first_out))
      to.store(row, atomicAdd(&num_kept, 1), e);
  }
  __syncthreads();
  for (int at = num_kept + static_cast<int>(threadIdx.x); at < kKept; at += kThreads)
    to.store(row, at, {});
  if (threadIdx.x == 0) to.store_flags(row, all_flags);
}

template <class From>
void pass(Context& ctx, const From& from, int64_t entries, int64_t N, TopLogits* top) {
  const int64_t chunks = (entries + kTopChunk - 1) / kTopChunk;
  const LaunchShape shape{ctx, dim3(static_cast<unsigned>(chunks), static_cast<unsigned>(N)),
                          kThreads};
  if (chunks == 1) return launch_early(shape, keep_kernel<From, Result>, from, Result{top});
  const Workspace::Scope scope(ctx.workspace);
  const Tensor kept = ctx.workspace.take(DType::I32, {N * chunks * kKept, 2});
  const Tensor flags = ctx.workspace.take(DType::I32, {N * chunks});
  const Kept to{static_cast<Entry*>(kept.data), static_cast<uint32_t*>(flags.data), chunks};
  launch_early(shape, keep_kernel<From, Kept>, from, to);
  pass(ctx, to, chunks * kKept, N, top);
}

}  // namespace

void top_logits(Context& ctx, const Tensor& logits, int64_t below, double softcap,
                const Tensor& top) {
  const Logits from{logits.as<float>(), logits.shape[1], below, static_cast<float>(softcap)};
  pass(ctx, from, logits.shape[1], logits.shape[0], static_cast<TopLogits*>(top.data));
}

}  // namespace ingot::cuda
