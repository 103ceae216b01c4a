// The kernel of thin.cu: x(M, C) · w(R, C)ᵀ for M up to kThinRows.
//
// A block computes 16 rows of w, two of them paired: an epilogue gets both at once, the gate and
// the up of SwiGLU or the two numbers that RoPE turns. Its warps take parts of C in turn, of which
// each thread keeps two batches in registers, one arriving while the other is multiplied. The first
// two are asked for before the kernel waits for the one before it.
#pragma once

#include "ops/cuda/common/early.cuh"
#include "ops/cuda/common/lanes.cuh"

namespace ingot::cuda::thin {

// Of a multiprocessor: one block of all, or two, so that one reads while the other finishes a tile.
inline constexpr int kWarpsPerSm = 16;
inline constexpr int kPairs = 8;    // of rows of w, in a block
inline constexpr int kColumns = 8;  // rows of x that one tile of sums takes
inline constexpr int kLoads = 4;    // of 16 bytes of each of a thread's two rows, in a batch

template <class T>
struct Operands {
  const T* x;  // (M, C)
  const T* w;  // (R, C)
  int64_t x_stride, w_stride;
  int M, R, C;
  // Pair p is rows first and first + distance, where first = p / distance · 2 · distance + p mod
  // distance.
  int distance;

  __device__ __forceinline__ int first_of(int pair) const {
    return pair / distance * 2 * distance + pair % distance;
  }
};

// 16 bytes of one row at C's column `column`, or zeros beyond its end.
template <class T>
__device__ __forceinline__ Packed load_weights(const T* row, int column, int C) {
  if (column >= C) return {};
  // Read once: not for the L1, which x shares. With pieces of 256 bytes from memory a step of
  // llama3_8b takes 4.41 ms instead of 4.72.
  Packed p;
  asm volatile("ld.global.L1::no_allocate.L2::256B.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(p.bits[0]), "=r"(p.bits[1]), "=r"(p.bits[2]), "=r"(p.bits[3])
               : "l"(row + column));
  return p;
}

// The lane's place: its pair of rows, and which 16 bytes of every 64.
struct Lane {
  int lane = static_cast<int>(threadIdx.x) % kWarp;
  int pair = lane / 4, part = lane % 4;
};

// Sums of a thread over its part of C.
template <class T, int kTiles>
struct Sums;

// On tensor cores: 16 rows of w, 8 rows of x and 16 of C at a time. Which of C an instruction takes
// as its k-th does not matter, if it is the same of both operands. So a thread's 16 bytes, eight
// adjacent numbers of C, serve two instructions.
template <int kTiles>
struct Sums<__nv_bfloat16, kTiles> {
  using T = __nv_bfloat16;

  __device__ __forceinline__ void add(const Lane& at, const Operands<T>& op, int column,
                                      const Packed& first, const Packed& second) {
#pragma unroll
    for (int tile = 0; tile < kTiles; ++tile) {
      const int row = tile * kColumns + at.pair;
      Packed x;
      if (row < op.M && column < op.C) x = load_packed(op.x + row * op.x_stride + column);
#pragma unroll
      for (int half = 0; half < 4; half += 2)
        asm volatile(
            "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, "
            "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
            : "+f"(sums[tile][0]), "+f"(sums[tile][1]), "+f"(sums[tile][2]), "+f"(sums[tile][3])
            : "r"(first.bits[half]), "r"(second.bits[half]), "r"(first.bits[half + 1]),
              "r"(second.bits[half + 1]), "r"(x.bits[half]), "r"(x.bits[half + 1]));
    }
  }

  // put(row of x, pair, first, second)
  template <class Put>
  __device__ __forceinline__ void finish(const Lane& at, const Put& put) {
#pragma unroll
    for (int tile = 0; tile < kTiles; ++tile)
#pragma unroll
      for (int i = 0; i < 2; ++i)
        put(tile * kColumns + 2 * at.part + i, at.pair, sums[tile][i], sums[tile][2 + i]);
  }

  float sums[kTiles][4] = {};
};

template <int kTiles>
struct Sums<float, kTiles> {
  static constexpr int kRows = kTiles * kColumns;

  __device__ __forceinline__ void add(const Lane&, const Operands<float>& op, int column,
                                      const Packed& first, const Packed& second) {
    const Lanes<float, 4> a = unpack<float>(first), b = unpack<float>(second);
#pragma unroll
    for (int row = 0; row < kRows; ++row) {
      if (row >= op.M || column >= op.C) continue;
      const Lanes<float, 4> x = unpack<float>(load_packed(op.x + row * op.x_stride + column));
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        sums[row][0] += a.v[i] * x.v[i];
        sums[row][1] += b.v[i] * x.v[i];
      }
    }
  }

  template <class Put>
  __device__ __forceinline__ void finish(const Lane& at, const Put& put) {
#pragma unroll
    for (int row = 0; row < kRows; ++row) {
      const float first = warp_reduce_parts(sums[row][0]), second = warp_reduce_parts(sums[row][1]);
      if (at.part == 0) put(row, at.pair, first, second);
    }
  }

  __device__ __forceinline__ static float warp_reduce_parts(float value) {
    return warp_reduce<4>(value, Add{});
  }

  float sums[kRows][2] = {};
};

// What a thread has of its two rows: kLoads pieces of 16 bytes of each, a warp's piece apart.
template <class T, int kWarps>
struct Batch {
  static constexpr int kPiece = 4 * Vec<T>::kSize;  // of C, that a warp takes at once
  static constexpr int kWidth = kLoads * kPiece;    // of C, a warp's batch
  static constexpr int kStride = kWarps * kWidth;   // to its next one

  __device__ __forceinline__ void load(const Lane& at, const T* first, const T* second, int begin,
                                       int C) {
#pragma unroll
    for (int i = 0; i < kLoads; ++i) {
      const int column = begin + i * kPiece + at.part * Vec<T>::kSize;
      a[i] = load_weights(first, column, C);
      b[i] = load_weights(second, column, C);
    }
  }

  Packed a[kLoads], b[kLoads];
};

// The grid is as large as the GPU holds at once and iterates over the tiles of kPairs pairs. The
// next tile's weights are asked for before this one's sums are put together.
//
// Epilogue: store(row of x, first row of w, Σ, Σ of its pair, whether that exists).
template <class T, int kTiles, int kWarps, class Epilogue>
__global__ void __launch_bounds__(kWarps* kWarp, kWarpsPerSm / kWarps)
    gemm_kernel(const Operands<T> op, const Epilogue epilogue, const int num_tiles) {
  constexpr int kRows = kTiles * kColumns, kThreads = kWarps * kWarp;
  __shared__ float2 shared[kWarps][kRows][kPairs];
  let_next_start();
  const Lane at;
  const int warp = static_cast<int>(threadIdx.x) / kWarp,
            first_column = warp * Batch<T, kWarps>::kWidth;
  const T *row_a, *row_b;
  Batch<T, kWarps> batch[2];
  const auto load_first = [&](int tile) {
    const int first = op.first_of(tile * kPairs + at.pair);
    // Rows that do not exist read the last one; nobody stores their sums.
    row_a = op.w + static_cast<int64_t>(min(first, op.R - 1)) * op.w_stride;
    row_b = op.w + static_cast<int64_t>(min(first + op.distance, op.R - 1)) * op.w_stride;
    batch[0].load(at, row_a, row_b, first_column, op.C);
    batch[1].load(at, row_a, row_b, first_column + Batch<T, kWarps>::kStride, op.C);
  };
  load_first(static_cast<int>(blockIdx.x));
  wait_for_previous();

  for (int tile = static_cast<int>(blockIdx.x); tile < num_tiles;
       tile += static_cast<int>(gridDim.x)) {
    Sums<T, kTiles> sums;
    for (int begin = first_column; begin < op.C;) {
#pragma unroll
      for (int i = 0; i < 2; ++i) {
#pragma unroll
        for (int j = 0; j < kLoads; ++j)
          sums.add(at, op, begin + j * Batch<T, kWarps>::kPiece + at.part * Vec<T>::kSize,
                   batch[i].a[j], batch[i].b[j]);
        batch[i].load(at, row_a, row_b, begin + 2 * Batch<T, kWarps>::kStride, op.C);
        begin += Batch<T, kWarps>::kStride;
      }
    }
    const int next = tile + static_cast<int>(gridDim.x);
    if (next < num_tiles) load_first(next);

    __syncthreads();  // the sums of the tile before have been read
    sums.finish(at, [&](int row, int pair, float a, float b) { shared[warp][row][pair] = {a, b}; });
    __syncthreads();
    for (int i = static_cast<int>(threadIdx.x); i < kRows * kPairs; i += kThreads) {
      const int row = i / kPairs, pair = i % kPairs;
      const int w_row = op.first_of(tile * kPairs + pair);
      if (row >= op.M || w_row >= op.R) continue;
      float2 total = shared[0][row][pair];
#pragma unroll
      for (int other = 1; other < kWarps; ++other) {
        total.x += shared[other][row][pair].x;
        total.y += shared[other][row][pair].y;
      }
      epilogue.store(row, w_row, total.x, total.y, w_row + op.distance < op.R);
    }
  }
}

}  // namespace ingot::cuda::thin
