// The unit that the epilogues of product.cuh move.
#pragma once

#include "ops/cuda/hopper/gemm.cuh"

namespace ingot::cuda::hopper {

// A sliver: of a group's 64 rows and of 64 columns, the 32 rows that one register of the sums
// covers: 8 per warp, either the upper or the lower of its 16. It has 4 KB, so that many can be in
// flight. A matrix (N, width) that is moved in slivers has the shape (1, N/16, 2, 8, width).
inline constexpr int kSliverBytes = 32 * 128;

// The address of a thread's row of four adjacent 8×8 matrices in a sliver, as the TMA unit swizzles
// it; `chunk` counts 8 columns.
__device__ __forceinline__ uint32_t row_address(uint32_t sliver, int thread, int chunk) {
  const int row = thread % 8, column = chunk + thread % 32 / 8;
  return sliver + thread / 32 * 1024 + row * 128 + ((column ^ row) << 4);
}

inline constexpr int kGroupWarps = kGroupThreads / 32;

// Called by a whole warp after it wrote data for the mover to shared memory: one of kGroupWarps
// arrivals at `filled`.
__device__ __forceinline__ void hand_over(uint32_t filled) {
  fence_for_stores();
  barrier_arrive_as_warp(static_cast<int>(threadIdx.x) % 32, filled);
}

// Outgoing slivers of a group of warps, at most kSlivers in flight. The group fills them in turn
// with put(); its mover calls send_all().
template <int kSlivers>
class SliverStream {
 public:
  static constexpr int kBytes = kSlivers * kSliverBytes;  // of `scratch`
  static constexpr int kBarriers = 2 * kSlivers;          // a sliver is filled, a sliver is free

  __device__ static int arrivals_at(int barrier) { return barrier < kSlivers ? kGroupWarps : 1; }

  __device__ SliverStream(uint32_t scratch, uint32_t barriers, int thread)
      : scratch_(scratch), barriers_(barriers), thread_(thread) {}

  // Puts a sliver: value(i) gives the register for its columns 8i … 8i+7.
  template <class Value>
  __device__ __forceinline__ void put(const Value& value) {
    const uint32_t sliver = scratch_ + place_.stage * kSliverBytes;
    const uint32_t filled = barriers_ + 8 * place_.stage, free = filled + 8 * kSlivers;
    barrier_wait(free, place_.parity ^ 1);
#pragma unroll
    for (int chunk = 0; chunk < 8; chunk += 4) {
      uint32_t v[4];
#pragma unroll
      for (int i = 0; i < 4; ++i) v[i] = value(chunk + i);
      store_matrices(row_address(sliver, thread_, chunk), v);
    }
    hand_over(filled);
    place_.advance();
  }

  // Sends num_slivers per tile of the walk: store(tile, n, from) tells the TMA unit to store the
  // n-th.
  template <class Walk, class Store>
  __device__ static void send_all(uint32_t scratch, uint32_t barriers, Walk walk, int num_slivers,
                                  const Store& store) {
    Place<kSlivers> place;
    for (; walk.more(); walk.advance()) {
      const Tile tile = walk.tile();
      for (int n = 0; n < num_slivers; ++n, place.advance()) {
        const uint32_t filled = barriers + 8 * place.stage;
        barrier_wait(filled, place.parity);
        store(tile, n, scratch + place.stage * kSliverBytes);
        commit_stores();
        wait_stores_read<0>();
        barrier_arrive(filled + 8 * kSlivers);
      }
    }
  }

 private:
  uint32_t scratch_, barriers_;
  int thread_;
  Place<kSlivers> place_;
};

}  // namespace ingot::cuda::hopper
