// Epilogue of hopper_product.cuh: rotary position embedding of the heads that a product makes.
#pragma once

#include "ops/cuda/hopper_sliver.cuh"
#include "ops/cuda/rope.cuh"

namespace ingot::cuda::hopper {

// y(N, R) = x(N, C) · w(R, C)ᵀ, whose first columns are heads of kHead, rotated by pairs
// (i, i + kHead/2). Both of a pair lie in one thread.
template <int kHead>
class RopeForward {
  static_assert(kHead == 64 || kHead == 128, "expected heads of one or two slivers");
  static constexpr int kSlivers = 4;  // written in turn, two at a time

 public:
  struct Arguments {
    CUtensorMap y;             // (1, N/16, 2, 8, R)
    const float *cos, *sin;    // (context, kHead/2)
    const int32_t* positions;  // (N), or null:
    int tokens_per_row;        // then row n is at n % tokens_per_row
    int num_rows;              // N
    int rotated;               // columns
  };
  static constexpr bool kAcross = false;
  static constexpr int kStages = 4;
  static constexpr int kScratchBytes = kSlivers * kSliverBytes;
  static constexpr int kBarriers = 0;
  static constexpr int kSlices = kColumnPieces;  // two pieces, half of the rows
  static constexpr bool kSpread = false;

  __device__ static Columns columns_of(int tile, int piece) {
    return {tile * kTileColumns + piece * kPieceWidth, 0};
  }

  __device__ RopeForward(const Arguments& arguments, uint32_t scratch, uint32_t, int group,
                         int thread)
      : arguments_(arguments), scratch_(scratch), group_(group), thread_(thread) {}

  __device__ void begin(const Tile&) {}

  __device__ __forceinline__ void slice(int slice, uint32_t (&sums)[64], const Tile& tile,
                                        const Tile&, bool) {
    const int first = slice / 2 * 2, half = slice % 2;  // pieces first and first + 1
    const int column = tile.column * kTileColumns + first * kPieceWidth;
    const uint32_t slivers = scratch_ + slice % 2 * 2 * kSliverBytes;
    if (thread_ == 0) wait_stores_read<1>();
    rotate(sums, first, half, column, tile.row + thread_ / 32 * 16 + half * 8 + thread_ % 32 / 4);
    meet(1 + group_, kGroupThreads);
#pragma unroll
    for (int piece = 0; piece < 2; ++piece) {
#pragma unroll
      for (int chunk = 0; chunk < 8; chunk += 4) {
        uint32_t v[4];
#pragma unroll
        for (int i = 0; i < 4; ++i) v[i] = sums[2 * (8 * (first + piece) + chunk + i) + half];
        store_matrices(row_address(slivers + piece * kSliverBytes, thread_, chunk), v);
      }
    }
    fence_for_stores();
    meet(1 + group_, kGroupThreads);
    if (thread_ == 0) {
      for (int piece = 0; piece < 2; ++piece)
        store_box(&arguments_.y, {column + piece * kPieceWidth, 0, half, tile.row / 16, 0},
                  slivers + piece * kSliverBytes);
      commit_stores();
    }
  }

  __device__ void finish() {
    if (thread_ == 0) wait_stores_read<0>();
  }

 private:
  // What this thread has of `row` in two pieces: two heads of 64, or one of 128.
  __device__ __forceinline__ void rotate(uint32_t (&sums)[64], int first, int half, int column,
                                         int row) const {
    if (column >= arguments_.rotated) return;
    row = min(row, arguments_.num_rows - 1);
    const int position = arguments_.positions != nullptr ? arguments_.positions[row]
                                                         : row % arguments_.tokens_per_row;
    const int64_t angle = int64_t{position} * (kHead / 2) + 2 * (thread_ % 4);
#pragma unroll
    for (int chunk = 0; chunk < kHead / 16; ++chunk) {
      const float2 c = *reinterpret_cast<const float2*>(arguments_.cos + angle + 8 * chunk);
      const float2 s = *reinterpret_cast<const float2*>(arguments_.sin + angle + 8 * chunk);
#pragma unroll
      for (int head = 0; head < 2 * kPieceWidth / kHead; ++head) {
        if (column + head * kHead >= arguments_.rotated) continue;
        const int real = 8 * first + head * (kHead / 8) + chunk, imaginary = real + kHead / 16;
        turn_pair(sums[2 * real + half], sums[2 * imaginary + half], c, s);
      }
    }
  }

  // Two numbers and those they are turned with.
  __device__ static void turn_pair(uint32_t& real, uint32_t& imaginary, float2 c, float2 s) {
    float2 x = unpack(real), y = unpack(imaginary);
    turn(x.x, y.x, c.x, s.x);
    turn(x.y, y.y, c.y, s.y);
    real = pack(x.x, x.y);
    imaginary = pack(y.x, y.y);
  }

  const Arguments& arguments_;
  uint32_t scratch_;
  int group_, thread_;
};

}  // namespace ingot::cuda::hopper
