// The kernels of rms_norm.cu and fp8/rms_norm.cu. The two differ in the use of the results. That is
// an Output, passed to the kernel; each thread constructs its Writer.
#pragma once

#include <algorithm>

#include "ops/cuda/common/early.cuh"
#include "ops/cuda/rms_norm/rows.cuh"

namespace ingot::cuda {

// dweight(C) += Σ of the first num_partials rows of partials(…, C). In rms_norm.cu.
void rms_norm_add_partials(Context& ctx, const Tensor& partials, int64_t num_partials,
                           const Tensor& dweight);

inline int64_t heads_of(const Tensor& x) {
  return x.shape.rank() == 3 ? x.shape[1] : 1;
}

// Whether the tile kernels' int indices can count these rows, which are padded to a grid of tiles.
template <class T>
bool fit_tiles(const T* weight, int64_t num_rows, int64_t width) {
  return fits_vec(weight, width) && num_rows <= std::numeric_limits<int>::max() / 2;
}

// y = x · rstd · weight: one expression for the forward pass and for kernels that rebuild y.
template <class T, int kSize>
__device__ __forceinline__ Lanes<T, kSize> normed(Lanes<T, kSize> x, Compute<T> rstd,
                                                  const Lanes<T, kSize>& weight) {
#pragma unroll
  for (int i = 0; i < kSize; ++i) x.v[i] = x.v[i] * rstd * weight.v[i];
  return x;
}

template <class T>
struct Forward {
  Forward(const Tensor& x_tensor, const Tensor& weight_tensor, double epsilon,
          const Tensor& rstd_tensor)
      : x(x_tensor),
        weight(static_cast<const T*>(weight_tensor.data)),
        rstd(static_cast<Compute<T>*>(rstd_tensor.data)),
        eps(static_cast<Compute<T>>(epsilon)),
        inverse_width(static_cast<Compute<T>>(1.0 / static_cast<double>(x_tensor.shape[-1]))),
        num_rows(rstd_tensor.numel()),
        heads(heads_of(x_tensor)),
        width(static_cast<int>(x_tensor.shape[-1])) {}

  bool fit_tiles() const { return x.fit_tiles() && cuda::fit_tiles(weight, num_rows, width); }

  Rows<const T> x;   // (rows, width)
  const T* weight;   // (width)
  Compute<T>* rstd;  // (rows)
  Compute<T> eps, inverse_width;
  int64_t num_rows, heads;
  int width;
};

// Output::Writer: put(index, row, column, y) stores a vector of y, put_one one element.
template <class T, class Tile, class Output>
__global__ void __launch_bounds__(Tile::kMostThreads, Tile::kLeastBlocks + 1)
    forward_kernel(Forward<T> norm, Output output, int row_threads) {
  using A = Compute<T>;
  constexpr int kVectors = Tile::kVectors, kRows = Tile::kRows, kSize = Vec<T>::kSize;
  __shared__ alignas(16) A shared[Tile::kMostThreads / kWarp * kRows];
  let_next_start();
  wait_for_previous();
  const Place<T, Tile> place(row_threads);
  typename Output::Writer writer(output);
  const int tile = static_cast<int>(blockIdx.x), num_rows = static_cast<int>(norm.num_rows),
            heads = static_cast<int>(norm.heads);
  const auto inside = [&](int r, int v) {
    return place.row(tile, r) < num_rows && place.column(v) < norm.width;
  };

  Packed x[kRows][kVectors];
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    const typename Tile::Index index(place.row(tile, r), heads);
#pragma unroll
    for (int v = 0; v < kVectors; ++v) {
      if (inside(r, v)) x[r][v] = load_packed(index.in(norm.x) + place.column(v));
    }
  }
  Packed weight[kVectors];
#pragma unroll
  for (int v = 0; v < kVectors; ++v)
    if (place.column(v) < norm.width) weight[v] = load_packed(norm.weight + place.column(v));

  A squares[kRows];
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    squares[r] = 0;
#pragma unroll
    for (int v = 0; v < kVectors; ++v) {
      const Lanes<T, kSize> value = unpack<T>(x[r][v]);
#pragma unroll
      for (int i = 0; i < kSize; ++i) squares[r] += value.v[i] * value.v[i];
      keep_packed(x[r][v]);
    }
  }
  sum_rows<Tile>(squares, place, shared);

#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    const int row = place.row(tile, r);
    const typename Tile::Index index(row, heads);
    const A rstd = rsqrt(squares[r] * norm.inverse_width + norm.eps);
    if (place.lane == 0 && row < num_rows) norm.rstd[row] = rstd;
#pragma unroll
    for (int v = 0; v < kVectors; ++v) {
      const Packed y = pack<T>(normed(unpack<T>(x[r][v]), rstd, unpack<T>(weight[v])));
      if (inside(r, v)) writer.put(index, row, place.column(v), y);
    }
  }
  writer.finish();
}

// The same for rows of any width and alignment: one block per row, which is read twice.
template <class T, class Output>
__global__ void __launch_bounds__(kThreads) forward_any_kernel(Forward<T> norm, Output output) {
  using A = Compute<T>;
  __shared__ A shared[kThreads / kWarp];
  const int64_t row = blockIdx.x;
  const RowIndex<int64_t, true> index(row, norm.heads);
  const T* x = index.in(norm.x);
  A squares = 0;
  for (int i = threadIdx.x; i < norm.width; i += kThreads) {
    const A value = static_cast<A>(x[i]);
    squares += value * value;
  }
  squares = block_sum<kThreads>(squares, shared);
  const A rstd = rsqrt(squares * norm.inverse_width + norm.eps);
  if (threadIdx.x == 0) norm.rstd[row] = rstd;
  typename Output::Writer writer(output);
  for (int i = threadIdx.x; i < norm.width; i += kThreads)
    writer.put_one(index, row, i,
                   static_cast<T>(static_cast<A>(x[i]) * rstd * static_cast<A>(norm.weight[i])));
  writer.finish();
}

template <class T, class Output>
void forward(Context& ctx, const Forward<T>& norm, const Output& output) {
  const bool done =
      norm.fit_tiles() && output.fit_tiles() &&
      with_tile(norm.width / Vec<T>::kSize, norm.heads, [&](auto tile, RowThreads threads) {
        using Chosen = decltype(tile);
        const int64_t rows = Chosen::kRows * threads.rows_at_once();
        launch_early({ctx, blocks_for(norm.num_rows, rows), static_cast<unsigned>(threads.block)},
                     forward_kernel<T, Chosen, Output>, norm, output, threads.row);
      });
  if (!done)
    launch({ctx, blocks_for(norm.num_rows, 1), kThreads}, forward_any_kernel<T, Output>, norm,
           output);
}

template <class T>
struct Backward {
  Backward(const Tensor& dy_tensor, const Tensor& x_tensor, const Tensor& weight_tensor,
           const Tensor& rstd_tensor, const Tensor& dx_tensor, const Tensor& partials_tensor)
      : dy(dy_tensor),
        x(x_tensor),
        dx(dx_tensor),
        weight(static_cast<const T*>(weight_tensor.data)),
        rstd(static_cast<const Compute<T>*>(rstd_tensor.data)),
        partials(static_cast<Compute<T>*>(partials_tensor.data)),
        inverse_width(static_cast<Compute<T>>(1.0 / static_cast<double>(x_tensor.shape[-1]))),
        num_rows(rstd_tensor.numel()),
        heads(heads_of(x_tensor)),
        width(static_cast<int>(x_tensor.shape[-1])) {}

  bool fit_tiles() const {
    return dy.fit_tiles() && x.fit_tiles() && dx.fit_tiles() &&
           cuda::fit_tiles(weight, num_rows, width);
  }

  Rows<const T> dy, x;     // (rows, width)
  Rows<T> dx;              // (rows, width)
  const T* weight;         // (width)
  const Compute<T>* rstd;  // (rows)
  Compute<T>* partials;    // (blocks · rows at once, width): parts of dweight
  Compute<T> inverse_width;
  int64_t num_rows, heads;
  int width;
};

// Loads rows that are read once. kStreaming leaves the L2 to data that is written in pieces.
template <bool kStreaming, class T>
__device__ __forceinline__ Packed load_passing(const T* from) {
  if constexpr (kStreaming)
    return std::bit_cast<Packed>(__ldcs(reinterpret_cast<const uint4*>(from)));
  return load_packed(from);
}
template <bool kStreaming, class T>
__device__ __forceinline__ void store_passing(T* to, const Packed& packed) {
  if constexpr (kStreaming) {
    __stcs(reinterpret_cast<uint4*>(to), std::bit_cast<uint4>(packed));
  } else {
    store_packed(to, packed);
  }
}

// A thread's inputs of a tile. Elements outside are zero and add nothing.
template <class T, class Tile, bool kAccumulate, bool kStreaming>
struct Operands {
  static constexpr int kVectors = Tile::kVectors, kRows = Tile::kRows;

  __device__ __forceinline__ Operands(const Backward<T>& norm, const Place<T, Tile>& place,
                                      int tile) {
    const int num_rows = static_cast<int>(norm.num_rows), heads = static_cast<int>(norm.heads);
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      const int row = place.row(tile, r);
      const typename Tile::Index index(row, heads);
      rstd[r] = row < num_rows ? norm.rstd[row] : Compute<T>{0};
#pragma unroll
      for (int v = 0; v < kVectors; ++v) {
        const int column = place.column(v);
        if (row < num_rows && column < norm.width) {
          x[r][v] = load_passing<kStreaming>(index.in(norm.x) + column);
          dy[r][v] = load_passing<kStreaming>(index.in(norm.dy) + column);
          if constexpr (kAccumulate)
            old[r][v] = load_passing<kStreaming>(index.in(norm.dx) + column);
        }
      }
    }
  }

  Packed x[kRows][kVectors], dy[kRows][kVectors], old[kRows][kVectors];
  Compute<T> rstd[kRows];
};

// Prefetches the rows of a later tile into the L2, which takes no registers. Whole warps share the
// rows. GPUs before sm_90 cannot do this and read without prefetch.
template <bool kAccumulate, class T, class Tile>
__device__ __forceinline__ void prefetch(const Backward<T>& norm, const Place<T, Tile>& place,
                                         int tile) {
  if (place.lane >= Tile::kRows) return;
  const int row = place.row(tile, place.lane);
  if (row >= static_cast<int>(norm.num_rows)) return;
  const typename Tile::Index index(row, 1);
  const auto fetch = [&]([[maybe_unused]] const T* from) {
#if __CUDA_ARCH__ >= 900
    asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(__cvta_generic_to_global(from)),
                 "r"(norm.width * static_cast<int>(sizeof(T)))
                 : "memory");
#endif
  };
  fetch(index.in(norm.x));
  fetch(index.in(norm.dy));
  if constexpr (kAccumulate) fetch(index.in(norm.dx));
}

// A block iterates over the tiles that its Writer names and sums its part of dweight in registers.
// dx = r·(dy·w) - x·r³/width · Σ dy·w·x
//
// Output::Writer: first_tile(); tile_after(tile); start(tile), before all else of the tile;
// put(index, row, column, x, rstd, weight, dx) with a vector of each; finish(). Output::kPrefetch:
// the rows of tile_after(tile) are fetched while `tile` is computed.
template <class T, class Tile, bool kAccumulate, class Output>
__global__ void __launch_bounds__(Tile::kMostThreads, Tile::kLeastBlocks)
    backward_kernel(Backward<T> norm, Output output, int num_tiles, int row_threads) {
  using A = Compute<T>;
  constexpr int kVectors = Tile::kVectors, kRows = Tile::kRows, kSize = Vec<T>::kSize;
  // Two sets, used alternately: one barrier per tile separates writers from threads that still
  // read.
  __shared__ alignas(16) A shared[2][Tile::kMostThreads / kWarp * kRows];
  const Place<T, Tile> place(row_threads);
  const int num_rows = static_cast<int>(norm.num_rows), heads = static_cast<int>(norm.heads);
  typename Output::Writer writer(output);

  Lanes<T, kSize> weight[kVectors], dweight[kVectors];
#pragma unroll
  for (int v = 0; v < kVectors; ++v) {
    weight[v] = dweight[v] = {};
    if (place.column(v) < norm.width)
      weight[v] = unpack<T>(load_packed(norm.weight + place.column(v)));
  }

  int turn = 0;
  for (int tile = writer.first_tile(); tile < num_tiles;
       tile = writer.tile_after(tile), turn ^= 1) {
    const auto inside = [&](int r, int v) {
      return place.row(tile, r) < num_rows && place.column(v) < norm.width;
    };
    writer.start(tile);
    Operands<T, Tile, kAccumulate, Output::kStreaming> in(norm, place, tile);
    if constexpr (Output::kPrefetch && Tile::kSharers != Sharers::Lanes)
      prefetch<kAccumulate>(norm, place, writer.tile_after(tile));

    A dot[kRows];
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      dot[r] = 0;
#pragma unroll
      for (int v = 0; v < kVectors; ++v) {
        const Lanes<T, kSize> value = unpack<T>(in.x[r][v]), gradient = unpack<T>(in.dy[r][v]);
#pragma unroll
        for (int i = 0; i < kSize; ++i) dot[r] += gradient.v[i] * weight[v].v[i] * value.v[i];
        keep_packed(in.x[r][v]);
        keep_packed(in.dy[r][v]);
      }
    }
    sum_rows<Tile>(dot, place, shared[turn]);

    const int same_tile = computed_again(tile);
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      const int row = place.row(same_tile, r);
      const typename Tile::Index index(row, heads);
      const A rstd = in.rstd[r], shrink = -dot[r] * rstd * rstd * rstd * norm.inverse_width;
#pragma unroll
      for (int v = 0; v < kVectors; ++v) {
        const Lanes<T, kSize> value = unpack<T>(in.x[r][v]), gradient = unpack<T>(in.dy[r][v]);
        Lanes<T, kSize> dx = {};
        if constexpr (kAccumulate) dx = unpack<T>(in.old[r][v]);
#pragma unroll
        for (int i = 0; i < kSize; ++i) {
          const A scaled = gradient.v[i] * rstd;
          // fma fixes which multiplication is rounded. The compiler's choice would differ between
          // instances of this kernel, and so would their bits.
          dx.v[i] += fma(value.v[i], shrink, scaled * weight[v].v[i]);
          dweight[v].v[i] += scaled * value.v[i];
        }
        if (inside(r, v)) {
          T* to = index.in(norm.dx) + place.column(v);
          const Packed packed = pack<T>(dx);
          store_passing<Output::kStreaming>(to, packed);
          writer.put(index, row, place.column(v), value, rstd, weight[v], packed);
        }
      }
    }
  }
  writer.finish();

  if constexpr (Tile::kSharers != Sharers::Lanes) {
    A* partial =
        norm.partials +
        static_cast<int64_t>(static_cast<int>(blockIdx.x) * place.rows_at_once + place.first_row) *
            norm.width;
#pragma unroll
    for (int v = 0; v < kVectors; ++v) {
      if (place.column(v) >= norm.width) break;
#pragma unroll
      for (int i = 0; i < kSize; ++i) partial[place.column(v) + i] = dweight[v].v[i];
    }
  } else {  // the rows that are side by side, one after the other
    A* partial = norm.partials + static_cast<int64_t>(blockIdx.x) * norm.width;
    __shared__ A sums[kThreads * kSize];
#pragma unroll
    for (int i = 0; i < kSize; ++i) sums[threadIdx.x * kSize + i] = dweight[0].v[i];
    __syncthreads();
    for (int column = threadIdx.x; column < norm.width; column += kThreads) {
      A sum = 0;
      for (int g = 0; g < place.rows_at_once; ++g) sum += sums[g * row_threads * kSize + column];
      partial[column] = sum;
    }
  }
}

// The same for rows of any width and alignment; the block's part of dweight is summed in place.
// Output::put_one(index, row, column, y) has one element of the forward's y.
template <class T, bool kAccumulate, class Output>
__global__ void __launch_bounds__(kThreads) backward_any_kernel(Backward<T> norm, Output output) {
  using A = Compute<T>;
  __shared__ A shared[kThreads / kWarp];
  A* partial = norm.partials + static_cast<int64_t>(blockIdx.x) * norm.width;
  for (int64_t row = blockIdx.x; row < norm.num_rows; row += gridDim.x) {
    const RowIndex<int64_t, true> index(row, norm.heads);
    const T *x = index.in(norm.x), *dy = index.in(norm.dy);
    T* dx = index.in(norm.dx);
    A dot = 0;
    for (int i = threadIdx.x; i < norm.width; i += kThreads)
      dot += static_cast<A>(dy[i]) * static_cast<A>(norm.weight[i]) * static_cast<A>(x[i]);
    dot = block_sum<kThreads>(dot, shared);
    const A rstd = norm.rstd[row];
    const A shrink = -dot * rstd * rstd * rstd * norm.inverse_width;
    for (int i = threadIdx.x; i < norm.width; i += kThreads) {
      const A value = static_cast<A>(x[i]);
      const A scaled = static_cast<A>(dy[i]) * rstd;
      const A weight = static_cast<A>(norm.weight[i]);
      A d = fma(value, shrink, scaled * weight);
      if constexpr (kAccumulate) d += static_cast<A>(dx[i]);
      dx[i] = static_cast<T>(d);
      output.put_one(index, row, i, static_cast<T>(value * rstd * weight));
      const A before = row == blockIdx.x ? A{0} : partial[i];
      partial[i] = before + scaled * value;
    }
  }
}

}  // namespace ingot::cuda
