// Epilogue of product.cuh: rotary position embedding of the heads that a GEMM computes.
#pragma once

#include "ops/cuda/hopper/sliver.cuh"
#include "ops/cuda/rope.cuh"

namespace ingot::cuda::hopper {

// y(N, R) = x(N, C) · w(R, C)ᵀ. Its first columns are heads of kHead, rotated by pairs (i, i +
// kHead/2). Both numbers of a pair are in one thread.
template <int kHead>
class RopeForward {
  static_assert(kHead == 64 || kHead == 128, "expected heads of one or two slivers");

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
  static constexpr int kBand = 8;
  static constexpr int kStages = 4;
  static constexpr int kScratchBytes = SliverStream<4>::kBytes;
  static constexpr int kBarriers = SliverStream<4>::kBarriers;
  static constexpr bool kSpread = false;

 private:
  // For each half of the rows: rotates once per set of angles, then stores each piece.
  static constexpr int kChunks = 4;  // of 8 pairs, whose angles a set holds
  static constexpr int kSets = kHead / 2 / (8 * kChunks);
  static constexpr int kHalfSlices = kSets + kColumnPieces;

 public:
  static constexpr int kSlices = 2 * kHalfSlices;

  __device__ static Columns columns_of(int tile, int piece) {
    return {tile * kTileColumns + piece * kPieceWidth, 0};
  }

  __device__ static int arrivals_at(int barrier) { return SliverStream<4>::arrivals_at(barrier); }

  __device__ RopeForward(const Arguments& arguments, uint32_t scratch, uint32_t barriers,
                         int thread)
      : arguments_(arguments), results_(scratch, barriers, thread), thread_(thread) {}

  __device__ void begin(const Tile& tile) { fetch_angles(tile, 0, 0); }

  __device__ __forceinline__ void slice(int slice, uint32_t (&sums)[64], const Tile& tile,
                                        const Tile& next, bool more) {
    const int half = slice / kHalfSlices, part = slice % kHalfSlices;
    if (part < kSets) {
      rotate(sums, tile, half, part);
      if (part + 1 < kSets) fetch_angles(tile, half, part + 1);
      return;
    }
    const int piece = part - kSets;
    results_.put([&](int i) { return sums[2 * (8 * piece + i) + half]; });
    if (part + 1 == kHalfSlices) {
      if (half == 0)
        fetch_angles(tile, 1, 0);
      else if (more)
        fetch_angles(next, 0, 0);
    }
  }

  template <class Walk>
  __device__ static void move(const Arguments& arguments, uint32_t scratch, uint32_t barriers,
                              const Walk& walk) {
    SliverStream<4>::send_all(
        scratch, barriers, walk, 2 * kColumnPieces, [&](const Tile& tile, int n, uint32_t from) {
          const int column = tile.column * kTileColumns + n % kColumnPieces * kPieceWidth;
          store_box(&arguments.y, Box5{column, 0, n / kColumnPieces, tile.row / 16, 0}, from,
                    Keep::Short);
        });
  }

 private:
  // The angles of this thread's row are loaded at least a slice before they are used.
  __device__ __forceinline__ void fetch_angles(const Tile& tile, int half, int set) {
    const int row =
        min(tile.row + thread_ / 32 * 16 + half * 8 + thread_ % 32 / 4, arguments_.num_rows - 1);
    const int position = arguments_.positions != nullptr ? arguments_.positions[row]
                                                         : row % arguments_.tokens_per_row;
    const int64_t angle = int64_t{position} * (kHead / 2) + set * 8 * kChunks + 2 * (thread_ % 4);
#pragma unroll
    for (int chunk = 0; chunk < kChunks; ++chunk) {
      cos_[chunk] = *reinterpret_cast<const float2*>(arguments_.cos + angle + 8 * chunk);
      sin_[chunk] = *reinterpret_cast<const float2*>(arguments_.sin + angle + 8 * chunk);
    }
  }

  // Rotates all heads of the tile by the loaded angles.
  __device__ __forceinline__ void rotate(uint32_t (&sums)[64], const Tile& tile, int half,
                                         int set) const {
#pragma unroll
    for (int head = 0; head < kTileColumns / kHead; ++head) {
      if (tile.column * kTileColumns + head * kHead >= arguments_.rotated) continue;
#pragma unroll
      for (int chunk = 0; chunk < kChunks; ++chunk) {
        const int real = head * (kHead / 8) + set * kChunks + chunk, imaginary = real + kHead / 16;
        turn_pair(sums[2 * real + half], sums[2 * imaginary + half], cos_[chunk], sin_[chunk]);
      }
    }
  }

  // Rotates two pairs, packed as real and imaginary parts.
  __device__ static void turn_pair(uint32_t& real, uint32_t& imaginary, float2 c, float2 s) {
    float2 x = unpack(real), y = unpack(imaginary);
    turn(x.x, y.x, c.x, s.x);
    turn(x.y, y.y, c.y, s.y);
    real = pack(x.x, x.y);
    imaginary = pack(y.x, y.y);
  }

  const Arguments& arguments_;
  SliverStream<4> results_;
  int thread_;
  float2 cos_[kChunks], sin_[kChunks];
};

}  // namespace ingot::cuda::hopper
