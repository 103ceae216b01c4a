#include "ops/kernels/rms_norm.h"

#include "ops/cuda/rms_norm/kernels.cuh"

namespace ingot::cuda {
namespace {

// y(rows, width) in T, as the forward stores it.
template <class T>
struct StoreY {
  struct Writer {
    __device__ explicit Writer(const StoreY& output) : y(output.y) {}
    template <class Index>
    __device__ void put(const Index& index, int, int column, const Packed& values) const {
      store_packed(index.in(y) + column, values);
    }
    template <class Index>
    __device__ void put_one(const Index& index, int64_t, int column, T value) const {
      index.in(y)[column] = value;
    }
    __device__ void finish() const {}

    Rows<T> y;
  };

  bool fit_tiles() const { return y.fit_tiles(); }

  Rows<T> y;
};

// A backward pass that leaves nothing but dx, or with kY the forward's y(rows, width) too, built
// again.
template <class T, bool kY>
struct DxAndY {
  static constexpr bool kStreaming = false, kPrefetch = false;

  struct Writer {
    __device__ explicit Writer(const DxAndY& output) : y(output.y) {}
    __device__ int first_tile() const { return static_cast<int>(blockIdx.x); }
    __device__ int tile_after(int tile) const { return tile + static_cast<int>(gridDim.x); }
    __device__ void start(int) const {}
    template <class Index, class Values>
    __device__ __forceinline__ void put(const Index& index, int, int column, const Values& x,
                                        Compute<T> rstd, const Values& weight,
                                        const Packed&) const {
      if constexpr (kY) store_packed(index.in(y) + column, pack<T>(normed(x, rstd, weight)));
    }
    __device__ void finish() const {}

    Rows<T> y;
  };

  template <class Index>
  __device__ void put_one(const Index& index, int64_t, int column, T value) const {
    if constexpr (kY) index.in(y)[column] = value;
  }

  Rows<T> y;
};

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

// Returns how many partial sums it left.
template <class T, bool kAccumulate, bool kY>
int64_t backward(Context& ctx, const Backward<T>& norm, const Rows<T>& y) {
  using Output = DxAndY<T, kY>;
  const Output output{y};
  int64_t blocks = rms_norm_backward_blocks(ctx.facts, norm.num_rows, norm.width);
  const bool done =
      norm.fit_tiles() && y.fit_tiles() &&
      with_tile(norm.width / Vec<T>::kSize, norm.heads, [&](auto tile, RowThreads threads) {
        using Chosen = decltype(tile);
        const int64_t rows = Chosen::kRows * threads.rows_at_once();
        const int64_t num_tiles = (norm.num_rows + rows - 1) / rows;
        blocks = std::min(blocks, num_tiles);
        launch({ctx, blocks_for(blocks, 1), static_cast<unsigned>(threads.block)},
               backward_kernel<T, Chosen, kAccumulate, Output>, norm, output, num_tiles,
               threads.row);
      });
  if (!done)
    launch({ctx, blocks_for(blocks, 1), kThreads}, backward_any_kernel<T, kAccumulate, Output>,
           norm, output);
  return blocks;
}

// Calls f with a std::bool_constant for each of a and b.
template <class F>
decltype(auto) with_flags(bool a, bool b, const F& f) {
  const std::true_type yes;
  const std::false_type no;
  if (a) return b ? f(yes, yes) : f(yes, no);
  return b ? f(no, yes) : f(no, no);
}

}  // namespace

void rms_norm_forward(Context& ctx, const Tensor& x, const Tensor& weight, double eps,
                      const Tensor& y, const Tensor& rstd) {
  with_device_type(x.dtype, [&](auto tag) {
    using T = decltype(tag);
    forward(ctx, Forward<T>(x, weight, eps, rstd), StoreY<T>{Rows<T>(y)});
  });
}

void rms_norm_backward(Context& ctx, const Tensor& dy, const Tensor& x, const Tensor& weight,
                       const Tensor& rstd, const Tensor& dx, bool accumulate_dx,
                       const Tensor& dweight, const Tensor& y) {
  const int64_t num_rows = rstd.numel(), width = x.shape[-1];
  if (num_rows == 0) return;
  const Workspace::Scope scope(ctx.workspace);
  const Tensor partials = ctx.workspace.take(
      dweight.dtype, {rms_norm_backward_blocks(ctx.facts, num_rows, width), width});
  with_device_type(x.dtype, [&](auto tag) {
    using T = decltype(tag);
    const Backward<T> norm(dy, x, weight, rstd, dx, partials);
    const Rows<T> rebuilt(y.defined() ? y : dx);
    const int64_t num_partials =
        with_flags(accumulate_dx, y.defined(), [&](auto accumulate, auto with_y) {
          return backward<T, accumulate, with_y>(ctx, norm, rebuilt);
        });
    rms_norm_add_partials(ctx, partials, num_partials, dweight);
  });
}

void rms_norm_add_partials(Context& ctx, const Tensor& partials, int64_t num_partials,
                           const Tensor& dweight) {
  const int64_t width = dweight.numel();
  with_device_type(dweight.dtype, [&](auto tag) {
    using A = Compute<decltype(tag)>;
    launch({ctx, blocks_for(width, kColumns), kColumns * kSummers}, add_partials_kernel<A>,
           static_cast<const A*>(partials.data), num_partials, static_cast<int>(width),
           static_cast<A*>(dweight.data));
  });
}

}  // namespace ingot::cuda
