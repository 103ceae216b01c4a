// The distribution of rows over threads in the RMSNorm kernels, and sums over the threads of a row.
#pragma once

#include <limits>

#include "core/tensor/tensor.h"
#include "ops/cuda/common/lanes.cuh"

namespace ingot::cuda {

// Rows of (N, C), or of (N, H, D) with separate strides for rows and heads.
template <class T>
struct Rows {
  explicit Rows(const Tensor& tensor)
      : data(static_cast<T*>(tensor.data)),
        stride(tensor.strides[0]),
        head_stride(tensor.shape.rank() == 3 ? tensor.strides[1] : 0) {}

  // Whether the tile kernels support them: whole vectors, strides of 32 bits.
  bool fit_tiles() const {
    constexpr int64_t kMost = std::numeric_limits<int>::max();
    return fits_vec(data, stride) && fits_vec(data, head_stride) && stride <= kMost &&
           head_stride <= kMost;
  }

  T* data;
  int64_t stride;
  int64_t head_stride;
};

// The position of row `row` in tensors with `heads` heads; without kHeads they have one. The tile
// kernels use int indices with 64-bit multiplications: one instruction where int64_t takes four,
// and a row has six addresses.
template <class Int, bool kHeads>
struct RowIndex {
  __device__ RowIndex(Int row, Int heads)
      : outer(kHeads ? row / heads : row), head(kHeads ? row - outer * heads : 0) {}

  template <class T>
  __device__ T* in(const Rows<T>& rows) const {
    T* first = rows.data + static_cast<int64_t>(outer) * static_cast<Int>(rows.stride);
    return kHeads ? first + static_cast<int64_t>(head) * static_cast<Int>(rows.head_stride) : first;
  }

  Int outer;
  Int head;
};

// The threads that share a row: adjacent threads of a warp, the whole block, or some whole warps of
// a block, which then handles several rows at once.
enum class Sharers { Lanes, Block, Warps };

// A thread holds kVectors vectors of each of kRows rows in registers, so that a row is read once
// and several loads are in flight. A narrow row belongs to 8, 16 or 32 adjacent threads; a wide
// one, which is never a head, to whole warps.
template <int kVectors_, int kRows_, Sharers kSharers_>
struct Tile {
  static constexpr int kVectors = kVectors_;
  static constexpr int kRows = kRows_;
  static constexpr Sharers kSharers = kSharers_;
  // The largest number of threads per block and the smallest number of blocks per multiprocessor,
  // so that some blocks read while others sum or write, and the backward pass keeps its registers.
  // Blocks of several rows hold their sums in shared memory, where there may be room for one block.
  static constexpr bool kWarps = kSharers == Sharers::Warps;
  static constexpr int kMostThreads = kWarps ? (kVectors == 1   ? 768
                                                : kVectors == 2 ? 512
                                                                : 256)
                                             : (kVectors == 4 ? 512 : 256);
  static constexpr int kLeastBlocks = kWarps || kVectors == 4 ? 1 : kVectors == 2 ? 2 : 3;
  using Index = RowIndex<int, kSharers == Sharers::Lanes>;
};

constexpr int kThreads = 256;  // of a block of narrow rows, and of the kernels for any row

struct RowThreads {
  int block;  // threads of a block
  int row;    // of them, those that share a row

  int rows_at_once() const { return block / row; }
};

// Calls f(tile, threads) with the best tile for rows of `num_vectors`; false if there is none.
template <class F>
bool with_tile(int num_vectors, int64_t heads, const F& f) {
  const auto whole_warps = [&](int vectors) {
    const int threads = (num_vectors + vectors * kWarp - 1) / (vectors * kWarp) * kWarp;
    return RowThreads{threads, threads};
  };
  if (num_vectors <= 32) {
    const int narrow = num_vectors <= 8 ? 8 : num_vectors <= 16 ? 16 : 32;
    f(Tile<1, 2, Sharers::Lanes>{}, RowThreads{kThreads, narrow});
  } else if (heads != 1) {
    return false;
  } else if (num_vectors <= 256) {
    f(Tile<1, 4, Sharers::Block>{}, whole_warps(1));
  } else if (num_vectors <= 512) {
    f(Tile<2, 2, Sharers::Block>{}, whole_warps(2));
  } else if (num_vectors <= 2048) {
    f(Tile<4, 1, Sharers::Block>{}, whole_warps(4));
  } else {
    return false;
  }
  return true;
}

// A thread's position: rows row(tile, 0), row(tile, 1), … of each tile, and in each the vectors at
// column(0), column(1), ….
template <class T, class Tile>
struct Place {
  __device__ explicit Place(int threads_of_row)
      : row_threads(kBlock ? static_cast<int>(blockDim.x) : threads_of_row),
        first_row(kBlock ? 0 : static_cast<int>(threadIdx.x) / threads_of_row),
        lane(Tile::kSharers == Sharers::Lanes
                 ? static_cast<int>(threadIdx.x) & (threads_of_row - 1)
                 : static_cast<int>(threadIdx.x) - first_row * row_threads),
        rows_at_once(kBlock ? 1 : static_cast<int>(blockDim.x) / threads_of_row) {}

  // May be beyond the last row, by less than a tile.
  __device__ int row(int tile, int r) const {
    return (tile * Tile::kRows + r) * rows_at_once + first_row;
  }
  __device__ int column(int v) const { return (lane + v * row_threads) * Vec<T>::kSize; }

  // Waits for the other threads of the row, if whole warps share it.
  __device__ void sync_row() const {
    if constexpr (kBlock) {
      __syncthreads();
    } else {  // barrier 0 is for the whole block
      asm volatile("bar.sync %0, %1;" ::"r"(1 + first_row), "r"(row_threads) : "memory");
    }
  }

  static constexpr bool kBlock = Tile::kSharers == Sharers::Block;
  int row_threads;
  int first_row;
  int lane;
  int rows_at_once;
};

// Σ over the threads of each row; every one of them gets the sum. `shared`: a value for each row of
// each of the block's warps, which no thread may still be reading. The order depends only on
// kVectors and the number of threads per row.
template <class Tile, class A, class Place>
__device__ __forceinline__ void sum_rows(A (&sums)[Tile::kRows], const Place& place, A* shared) {
  constexpr bool kLanes = Tile::kSharers == Sharers::Lanes;
#pragma unroll
  for (int distance = kWarp / 2; distance > 0; distance /= 2) {
    if (kLanes && distance >= place.row_threads) continue;
#pragma unroll
    for (int r = 0; r < Tile::kRows; ++r)
      sums[r] += __shfl_xor_sync(0xffffffffu, sums[r], distance);
  }
  if constexpr (!kLanes) {
    const int num_warps = place.row_threads / kWarp;
    A* of_row = shared + place.first_row * num_warps * Tile::kRows;
    if (place.lane % kWarp == 0) {
#pragma unroll
      for (int r = 0; r < Tile::kRows; ++r) of_row[place.lane / kWarp * Tile::kRows + r] = sums[r];
    }
    place.sync_row();
#pragma unroll
    for (int r = 0; r < Tile::kRows; ++r) sums[r] = of_row[r];
#pragma unroll 4
    for (int w = 1; w < num_warps; ++w) {
#pragma unroll
      for (int r = 0; r < Tile::kRows; ++r) sums[r] += of_row[w * Tile::kRows + r];
    }
  }
}

}  // namespace ingot::cuda
