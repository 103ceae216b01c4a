// How the kernels of rms_norm.cu spread rows over threads, and sum over the threads of a row.
#pragma once

#include <limits>

#include "core/tensor.h"
#include "ops/cuda/lanes.cuh"

namespace ingot::cuda {

// Rows of (N, C), or of (N, H, D) with strides of its own for rows and heads.
template <class T>
struct Rows {
  explicit Rows(const Tensor& tensor)
      : data(static_cast<T*>(tensor.data)),
        stride(tensor.strides[0]),
        head_stride(tensor.shape.rank() == 3 ? tensor.strides[1] : 0) {}

  // Whether the kernels on tiles can take them: whole vectors, strides of 32 bits.
  bool fit_tiles() const {
    constexpr int64_t kMost = std::numeric_limits<int>::max();
    return fits_vec(data, stride) && fits_vec(data, head_stride) && stride <= kMost &&
           head_stride <= kMost;
  }

  T* data;
  int64_t stride;
  int64_t head_stride;
};

// Where row `row` of tensors with `heads` heads lies; without kHeads they have one. Kernels on
// tiles count in int, with products of 64 bits: one instruction where int64_t takes four, and there
// are six addresses to a row.
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

// How rows are spread over threads: a thread holds kVectors vectors of each of kRows rows in
// registers, so that a row is read once and several loads are under way at a time. A narrow row
// belongs to 8, 16 or 32 neighbouring threads, a wide one, which is no head, to the whole block.
template <int kVectors_, int kRows_, bool kBlockRow_>
struct Tile {
  static constexpr int kVectors = kVectors_;
  static constexpr int kRows = kRows_;
  static constexpr bool kBlockRow = kBlockRow_;
  static constexpr int kMostThreads = kVectors == 4 ? 512 : 256;
  // Of such blocks on a multiprocessor, so that some read while others sum or write: as many as
  // leave the backward pass its registers.
  static constexpr int kLeastBlocks = kVectors == 4 ? 1 : kVectors == 2 ? 2 : 3;
  using Index = RowIndex<int, !kBlockRow>;
};

constexpr int kThreads = 256;  // of a block of narrow rows, and of the kernels for any row

struct RowThreads {
  int block;  // threads of a block
  int row;    // of them, those that share a row

  int rows_at_once() const { return block / row; }
};

// Calls f(tile, threads) with what suits rows of `num_vectors`; false when nothing does.
template <class F>
bool with_tile(int num_vectors, int64_t heads, const F& f) {
  const auto whole_warps = [&](int vectors) {
    const int threads = (num_vectors + vectors * kWarp - 1) / (vectors * kWarp) * kWarp;
    return RowThreads{threads, threads};
  };
  if (num_vectors <= 32) {
    const int narrow = num_vectors <= 8 ? 8 : num_vectors <= 16 ? 16 : 32;
    f(Tile<1, 2, false>{}, RowThreads{kThreads, narrow});
  } else if (heads != 1) {
    return false;
  } else if (num_vectors <= 256) {
    f(Tile<1, 4, true>{}, whole_warps(1));
  } else if (num_vectors <= 512) {
    f(Tile<2, 2, true>{}, whole_warps(2));
  } else if (num_vectors <= 2048) {
    f(Tile<4, 1, true>{}, whole_warps(4));
  } else {
    return false;
  }
  return true;
}

// The place of a thread: rows row(tile, 0), row(tile, 1), … of each tile, and in each the vectors
// at column(0), column(1), ….
template <class T, class Tile>
struct Place {
  __device__ explicit Place(int threads_of_row)
      : row_threads(Tile::kBlockRow ? static_cast<int>(blockDim.x) : threads_of_row),
        lane(Tile::kBlockRow ? static_cast<int>(threadIdx.x)
                             : static_cast<int>(threadIdx.x) & (threads_of_row - 1)),
        first_row(Tile::kBlockRow ? 0 : static_cast<int>(threadIdx.x) / threads_of_row),
        rows_at_once(Tile::kBlockRow ? 1 : static_cast<int>(blockDim.x) / threads_of_row) {}

  // May lie beyond the last row, by less than a tile.
  __device__ int row(int tile, int r) const {
    return (tile * Tile::kRows + r) * rows_at_once + first_row;
  }
  __device__ int column(int v) const { return (lane + v * row_threads) * Vec<T>::kSize; }

  int row_threads;
  int lane;
  int first_row;
  int rows_at_once;
};

// Σ over the threads of each row, in every one of them. `shared`: kMostThreads / 32 · kRows values
// that nobody may still be reading.
template <class Tile, class A>
__device__ __forceinline__ void sum_rows(A (&sums)[Tile::kRows], int row_threads, A* shared) {
#pragma unroll
  for (int distance = kWarp / 2; distance > 0; distance /= 2) {
    if (!Tile::kBlockRow && distance >= row_threads) continue;
#pragma unroll
    for (int r = 0; r < Tile::kRows; ++r)
      sums[r] += __shfl_xor_sync(0xffffffffu, sums[r], distance);
  }
  if constexpr (Tile::kBlockRow) {
    const int warp = static_cast<int>(threadIdx.x) / kWarp;
    if (threadIdx.x % kWarp == 0) {
#pragma unroll
      for (int r = 0; r < Tile::kRows; ++r) shared[warp * Tile::kRows + r] = sums[r];
    }
    __syncthreads();
#pragma unroll
    for (int r = 0; r < Tile::kRows; ++r) sums[r] = shared[r];
#pragma unroll 4
    for (int w = 1; w < static_cast<int>(blockDim.x) / kWarp; ++w) {
#pragma unroll
      for (int r = 0; r < Tile::kRows; ++r) sums[r] += shared[w * Tile::kRows + r];
    }
  }
}

}  // namespace ingot::cuda
