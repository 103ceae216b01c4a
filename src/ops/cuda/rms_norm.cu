#include "ops/cuda/rms_norm.h"

#include <algorithm>
#include <limits>

#include "ops/cuda/rms_norm_rows.cuh"

namespace ingot::cuda {
namespace {

template <class T>
struct Forward {
  Rows<const T> x, delta;  // (rows, width); delta only of the fused addition
  Rows<T> sum, y;          // (rows, width); sum likewise
  const T* weight;         // (width)
  Compute<T>* rstd;        // (rows)
  Compute<T> eps, inverse_width;
  int64_t num_rows, heads;
  int width;
};

template <class T, class Tile, bool kAdd>
__global__ void __launch_bounds__(Tile::kMostThreads, Tile::kLeastBlocks + (kAdd ? 0 : 1))
    forward_kernel(Forward<T> norm, int row_threads) {
  using A = Compute<T>;
  constexpr int kVectors = Tile::kVectors, kRows = Tile::kRows, kSize = Vec<T>::kSize;
  __shared__ alignas(16) A shared[Tile::kMostThreads / kWarp * kRows];
  const Place<T, Tile> place(row_threads);
  const int tile = static_cast<int>(blockIdx.x), num_rows = static_cast<int>(norm.num_rows),
            heads = static_cast<int>(norm.heads);
  const auto inside = [&](int r, int v) {
    return place.row(tile, r) < num_rows && place.column(v) < norm.width;
  };

  Packed x[kRows][kVectors], delta[kRows][kVectors];
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    const typename Tile::Index index(place.row(tile, r), heads);
#pragma unroll
    for (int v = 0; v < kVectors; ++v) {
      if (inside(r, v)) {
        x[r][v] = load_packed(index.in(norm.x) + place.column(v));
        if constexpr (kAdd) delta[r][v] = load_packed(index.in(norm.delta) + place.column(v));
      }
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
      Lanes<T, kSize> value = unpack<T>(x[r][v]);
      if constexpr (kAdd) {
        // The norm is of the sum as stored (rounded to T), which is what the backward pass will
        // see.
        const Lanes<T, kSize> more = unpack<T>(delta[r][v]);
#pragma unroll
        for (int i = 0; i < kSize; ++i) value.v[i] += more.v[i];
        x[r][v] = pack<T>(value);
        value = unpack<T>(x[r][v]);
      }
#pragma unroll
      for (int i = 0; i < kSize; ++i) squares[r] += value.v[i] * value.v[i];
      keep_packed(x[r][v]);
    }
  }
  sum_rows<Tile>(squares, place.row_threads, shared);

#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    const int row = place.row(tile, r);
    const typename Tile::Index index(row, heads);
    const A rstd = rsqrt(squares[r] * norm.inverse_width + norm.eps);
    if (place.lane == 0 && row < num_rows) norm.rstd[row] = rstd;
#pragma unroll
    for (int v = 0; v < kVectors; ++v) {
      Lanes<T, kSize> y = unpack<T>(x[r][v]);
      const Lanes<T, kSize> w = unpack<T>(weight[v]);
#pragma unroll
      for (int i = 0; i < kSize; ++i) y.v[i] = y.v[i] * rstd * w.v[i];
      if (inside(r, v)) {
        if constexpr (kAdd) store_packed(index.in(norm.sum) + place.column(v), x[r][v]);
        store_packed(index.in(norm.y) + place.column(v), pack<T>(y));
      }
    }
  }
}

// The same for rows of any width and alignment: a block a row, read twice.
template <class T, bool kAdd>
__global__ void __launch_bounds__(kThreads) forward_any_kernel(Forward<T> norm) {
  using A = Compute<T>;
  __shared__ A shared[kThreads / kWarp];
  const int64_t row = blockIdx.x;
  const RowIndex<int64_t, true> index(row, norm.heads);
  const T* x = index.in(norm.x);
  A squares = 0;
  for (int i = threadIdx.x; i < norm.width; i += kThreads) {
    T value = x[i];
    if constexpr (kAdd) {
      value = static_cast<T>(static_cast<A>(value) + static_cast<A>(index.in(norm.delta)[i]));
      index.in(norm.sum)[i] = value;
    }
    squares += static_cast<A>(value) * static_cast<A>(value);
  }
  squares = block_sum<kThreads>(squares, shared);
  const A rstd = rsqrt(squares * norm.inverse_width + norm.eps);
  if (threadIdx.x == 0) norm.rstd[row] = rstd;
  const T* normed = kAdd ? index.in(norm.sum) : x;
  for (int i = threadIdx.x; i < norm.width; i += kThreads)
    index.in(norm.y)[i] =
        static_cast<T>(static_cast<A>(normed[i]) * rstd * static_cast<A>(norm.weight[i]));
}

template <class T>
struct Backward {
  Rows<const T> dy, x;     // (rows, width)
  Rows<T> dx;              // (rows, width)
  const T* weight;         // (width)
  const Compute<T>* rstd;  // (rows)
  Compute<T>* partials;    // (blocks, width): each block's part of dweight
  Compute<T> inverse_width;
  int64_t num_rows, heads;
  int width;
};

// A block walks the tiles blockIdx.x, blockIdx.x + gridDim.x, … and sums its part of dweight in
// registers. dx = r·(dy·w) - x·r³/width · Σ dy·w·x
template <class T, class Tile, bool kAccumulate>
__global__ void __launch_bounds__(Tile::kMostThreads, Tile::kLeastBlocks)
    backward_kernel(Backward<T> norm, int num_tiles, int row_threads) {
  using A = Compute<T>;
  constexpr int kVectors = Tile::kVectors, kRows = Tile::kRows, kSize = Vec<T>::kSize;
  // Two sets, taken in turn: one barrier a tile keeps writers from those still reading.
  __shared__ alignas(16) A shared[2][Tile::kMostThreads / kWarp * kRows];
  const Place<T, Tile> place(row_threads);
  const int num_rows = static_cast<int>(norm.num_rows), heads = static_cast<int>(norm.heads);

  Lanes<T, kSize> weight[kVectors], dweight[kVectors];
#pragma unroll
  for (int v = 0; v < kVectors; ++v) {
    weight[v] = dweight[v] = {};
    if (place.column(v) < norm.width)
      weight[v] = unpack<T>(load_packed(norm.weight + place.column(v)));
  }

  int turn = 0;
  for (int tile = blockIdx.x; tile < num_tiles; tile += gridDim.x, turn ^= 1) {
    const auto inside = [&](int r, int v) {
      return place.row(tile, r) < num_rows && place.column(v) < norm.width;
    };
    // What lies outside is zero and adds nothing.
    Packed x[kRows][kVectors], dy[kRows][kVectors], old[kRows][kVectors];
    A rstd[kRows], dot[kRows];
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      const int row = place.row(tile, r);
      const typename Tile::Index index(row, heads);
      rstd[r] = row < num_rows ? norm.rstd[row] : A{0};
#pragma unroll
      for (int v = 0; v < kVectors; ++v) {
        if (inside(r, v)) {
          x[r][v] = load_packed(index.in(norm.x) + place.column(v));
          dy[r][v] = load_packed(index.in(norm.dy) + place.column(v));
          if constexpr (kAccumulate) old[r][v] = load_packed(index.in(norm.dx) + place.column(v));
        }
      }
    }
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      dot[r] = 0;
#pragma unroll
      for (int v = 0; v < kVectors; ++v) {
        const Lanes<T, kSize> value = unpack<T>(x[r][v]), gradient = unpack<T>(dy[r][v]);
#pragma unroll
        for (int i = 0; i < kSize; ++i) dot[r] += gradient.v[i] * weight[v].v[i] * value.v[i];
        keep_packed(x[r][v]);
        keep_packed(dy[r][v]);
      }
    }
    sum_rows<Tile>(dot, place.row_threads, shared[turn]);

    const int same_tile = computed_again(tile);
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      const typename Tile::Index index(place.row(same_tile, r), heads);
      const A shrink = -dot[r] * rstd[r] * rstd[r] * rstd[r] * norm.inverse_width;
#pragma unroll
      for (int v = 0; v < kVectors; ++v) {
        const Lanes<T, kSize> value = unpack<T>(x[r][v]), gradient = unpack<T>(dy[r][v]);
        Lanes<T, kSize> dx = {};
        if constexpr (kAccumulate) dx = unpack<T>(old[r][v]);
#pragma unroll
        for (int i = 0; i < kSize; ++i) {
          const A scaled = gradient.v[i] * rstd[r];
          dx.v[i] += value.v[i] * shrink + scaled * weight[v].v[i];
          dweight[v].v[i] += scaled * value.v[i];
        }
        if (inside(r, v)) store_packed(index.in(norm.dx) + place.column(v), pack<T>(dx));
      }
    }
  }

  A* partial = norm.partials + static_cast<int64_t>(blockIdx.x) * norm.width;
  if constexpr (Tile::kBlockRow) {
#pragma unroll
    for (int v = 0; v < kVectors; ++v) {
      if (place.column(v) >= norm.width) break;
#pragma unroll
      for (int i = 0; i < kSize; ++i) partial[place.column(v) + i] = dweight[v].v[i];
    }
  } else {  // the rows that stood side by side, one after the other
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
template <class T, bool kAccumulate>
__global__ void __launch_bounds__(kThreads) backward_any_kernel(Backward<T> norm) {
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
      A d = value * shrink + scaled * static_cast<A>(norm.weight[i]);
      if constexpr (kAccumulate) d += static_cast<A>(dx[i]);
      dx[i] = static_cast<T>(d);
      const A before = row == blockIdx.x ? A{0} : partial[i];
      partial[i] = before + scaled * value;
    }
  }
}

// dweight(width) += Σ partials(num_partials, width). A block adds kColumns columns, each by
// kSummers threads: one thread a column would wait for memory a hundred times in a row.
constexpr int kColumns = 8;
constexpr int kSummers = 64;

template <class A>
__global__ void __launch_bounds__(kColumns* kSummers)
    add_partials_kernel(const A* partials, int64_t num_partials, int width, A* dweight) {
  __shared__ A shared[kSummers][kColumns];
  const int lane = static_cast<int>(threadIdx.x) % kColumns;
  const int summer = static_cast<int>(threadIdx.x) / kColumns;
  const int column = static_cast<int>(blockIdx.x) * kColumns + lane;
  A sum = 0;
  if (column < width) {
#pragma unroll 8
    for (int64_t p = summer; p < num_partials; p += kSummers) sum += partials[p * width + column];
  }
  shared[summer][lane] = sum;
  for (int half = kSummers / 2; half > 0; half /= 2) {
    __syncthreads();
    if (summer < half) shared[summer][lane] += shared[summer + half][lane];
  }
  if (summer == 0 && column < width) dweight[column] += shared[0][lane];
}

int64_t heads_of(const Tensor& x) {
  return x.shape.rank() == 3 ? x.shape[1] : 1;
}

// Blocks of the backward pass: with vectors of bf16 about 768 threads a multiprocessor, 640 for
// wide rows, which is what its registers hold. It depends on the shape and the device alone: so
// does the rounding of dweight.
int64_t most_backward_blocks(const Context& ctx, int64_t num_rows, int64_t width) {
  const int64_t per_sm = width <= 256    ? 3
                         : width <= 2048 ? std::min<int64_t>(8, (6144 + width / 2) / width)
                                         : std::max<int64_t>(2, 10240 / width);
  return std::min(num_rows, per_sm * ctx.cuda->num_sms());
}

// Whether the kernels on tiles can count these rows: they add up to a grid of tiles to an int.
template <class T>
bool fit_tiles(const T* weight, int64_t num_rows, int64_t width) {
  return fits_vec(weight, width) && num_rows <= std::numeric_limits<int>::max() / 2;
}

template <class T, bool kAdd>
void forward(Context& ctx, const Forward<T>& norm) {
  const bool fits = norm.x.fit_tiles() && norm.delta.fit_tiles() && norm.sum.fit_tiles() &&
                    norm.y.fit_tiles() && fit_tiles(norm.weight, norm.num_rows, norm.width);
  const bool done =
      fits && with_tile(norm.width / Vec<T>::kSize, norm.heads, [&](auto tile, RowThreads threads) {
        using Chosen = decltype(tile);
        const int64_t rows = Chosen::kRows * threads.rows_at_once();
        launch({ctx, blocks_for(norm.num_rows, rows), static_cast<unsigned>(threads.block)},
               forward_kernel<T, Chosen, kAdd>, norm, threads.row);
      });
  if (!done)
    launch({ctx, blocks_for(norm.num_rows, 1), kThreads}, forward_any_kernel<T, kAdd>, norm);
}

// Returns how many partial sums it left.
template <class T, bool kAccumulate>
int64_t backward(Context& ctx, const Backward<T>& norm) {
  int64_t blocks = most_backward_blocks(ctx, norm.num_rows, norm.width);
  const bool fits = norm.dy.fit_tiles() && norm.x.fit_tiles() && norm.dx.fit_tiles() &&
                    fit_tiles(norm.weight, norm.num_rows, norm.width);
  const bool done =
      fits && with_tile(norm.width / Vec<T>::kSize, norm.heads, [&](auto tile, RowThreads threads) {
        using Chosen = decltype(tile);
        const int64_t rows = Chosen::kRows * threads.rows_at_once();
        const int64_t num_tiles = (norm.num_rows + rows - 1) / rows;
        blocks = std::min(blocks, num_tiles);
        launch({ctx, blocks_for(blocks, 1), static_cast<unsigned>(threads.block)},
               backward_kernel<T, Chosen, kAccumulate>, norm, num_tiles, threads.row);
      });
  if (!done)
    launch({ctx, blocks_for(blocks, 1), kThreads}, backward_any_kernel<T, kAccumulate>, norm);
  return blocks;
}

}  // namespace

void rms_norm_forward(Context& ctx, const Tensor& x, const Tensor& delta, const Tensor& weight,
                      double eps, const Tensor& residual_out, const Tensor& y, const Tensor& rstd) {
  const int64_t width = x.shape[-1];
  with_device_type(x.dtype, [&](auto tag) {
    using T = decltype(tag);
    using A = Compute<T>;
    const bool add = delta.defined();
    const Forward<T> norm{.x = Rows<const T>(x),
                          .delta = Rows<const T>(add ? delta : x),
                          .sum = Rows<T>(add ? residual_out : x),
                          .y = Rows<T>(y),
                          .weight = static_cast<const T*>(weight.data),
                          .rstd = static_cast<A*>(rstd.data),
                          .eps = static_cast<A>(eps),
                          .inverse_width = static_cast<A>(1.0 / static_cast<double>(width)),
                          .num_rows = rstd.numel(),
                          .heads = heads_of(x),
                          .width = static_cast<int>(width)};
    if (add) {
      forward<T, true>(ctx, norm);
    } else {
      forward<T, false>(ctx, norm);
    }
  });
}

void rms_norm_backward(Context& ctx, const Tensor& dy, const Tensor& x, const Tensor& weight,
                       const Tensor& rstd, const Tensor& dx, bool accumulate_dx,
                       const Tensor& dweight) {
  const int64_t num_rows = rstd.numel(), width = x.shape[-1];
  if (num_rows == 0) return;
  const Workspace::Scope scope(ctx.workspace);
  const Tensor partials =
      ctx.workspace.take(dweight.dtype, {most_backward_blocks(ctx, num_rows, width), width});
  with_device_type(x.dtype, [&](auto tag) {
    using T = decltype(tag);
    using A = Compute<T>;
    const Backward<T> norm{.dy = Rows<const T>(dy),
                           .x = Rows<const T>(x),
                           .dx = Rows<T>(dx),
                           .weight = static_cast<const T*>(weight.data),
                           .rstd = static_cast<const A*>(rstd.data),
                           .partials = static_cast<A*>(partials.data),
                           .inverse_width = static_cast<A>(1.0 / static_cast<double>(width)),
                           .num_rows = num_rows,
                           .heads = heads_of(x),
                           .width = static_cast<int>(width)};
    const int64_t num_partials =
        accumulate_dx ? backward<T, true>(ctx, norm) : backward<T, false>(ctx, norm);
    launch({ctx, blocks_for(width, kColumns), kColumns * kSummers}, add_partials_kernel<A>,
           norm.partials, num_partials, norm.width, static_cast<A*>(dweight.data));
  });
}

int64_t rms_norm_backward_workspace_bytes(const Context& ctx, int64_t num_rows, int64_t width) {
  return align_up(most_backward_blocks(ctx, num_rows, width) * width * size_of(DType::F64));
}

}  // namespace ingot::cuda
