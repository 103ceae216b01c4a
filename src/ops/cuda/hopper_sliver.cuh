// What the epilogues of hopper_product.cuh move at a time.
#pragma once

#include "ops/cuda/hopper_product.cuh"

namespace ingot::cuda::hopper {

// A sliver: of a group's 64 rows and of 64 columns those 32 rows that one register of
// the sums covers, 8 of each warp, either the upper or the lower of its 16. 4 KB, so that many
// are under way. A matrix (N, width) of which slivers are boxes is (1, N/16, 2, 8, width).
inline constexpr int kSliverBytes = 32 * 128;

// Where a thread's row of four 8×8 matrices beside each other lies in a sliver, as the TMA unit
// swizzles it; `chunk` counts 8 columns.
__device__ __forceinline__ uint32_t row_address(uint32_t sliver, int thread, int chunk) {
  const int row = thread % 8, column = chunk + thread % 32 / 8;
  return sliver + thread / 32 * 1024 + row * 128 + ((column ^ row) << 4);
}

// What a group of warps sends off, kSlivers at a time.
template <int kSlivers>
class SliverStream {
 public:
  static constexpr int kBytes = kSlivers * kSliverBytes;  // of `scratch`

  __device__ SliverStream(uint32_t scratch, int group, int thread)
      : scratch_(scratch), group_(group), thread_(thread) {}

  // The n-th sliver, made of the registers that value(i) gives for its columns 8i … 8i+7, goes to
  // box at() of `map`.
  template <class Value, class At>
  __device__ __forceinline__ void send(int n, const CUtensorMap* map, const At& at,
                                       const Value& value) {
    const uint32_t sliver = scratch_ + n % kSlivers * kSliverBytes;
    if (thread_ == 0) wait_stores_read<kSlivers - 1>();
    meet(1 + group_, kGroupThreads);
#pragma unroll
    for (int chunk = 0; chunk < 8; chunk += 4) {
      uint32_t v[4];
#pragma unroll
      for (int i = 0; i < 4; ++i) v[i] = value(chunk + i);
      store_matrices(row_address(sliver, thread_, chunk), v);
    }
    fence_for_stores();
    meet(1 + group_, kGroupThreads);
    if (thread_ == 0) {
      store_box(map, at(), sliver, Keep::Short);
      commit_stores();
    }
  }

  __device__ void finish() {
    if (thread_ == 0) wait_stores_read<0>();
  }

 private:
  uint32_t scratch_;
  int group_, thread_;
};

}  // namespace ingot::cuda::hopper
