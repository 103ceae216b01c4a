// RMSNorm that rounds to 8 bits on the way. The sums of a row are in the order of rms_norm.cu, so
// that the results are those of the plain kernel and of quantize() after it, bit for bit.
#include "ops/cuda/fp8/fp8.cuh"
#include "ops/cuda/rms_norm/kernels.cuh"
#include "ops/kernels/fp8.h"
#include "ops/kernels/rms_norm.h"

namespace ingot::cuda {
namespace {

using Activation = __nv_fp8_e4m3;
using Gradient = __nv_fp8_e5m2;

// 8-bit values, four to a word.
template <int kSize>
using Words = Vec<uint32_t, kSize / 4>;

template <class Q, class T, int kSize>
__device__ __forceinline__ Words<kSize> quantized(const Lanes<T, kSize>& values, float scale) {
  Words<kSize> words;
#pragma unroll
  for (int w = 0; w < kSize / 4; ++w) {
    const float* v = values.v + 4 * w;
    words.v[w] = quantize4<Q>(v[0] * scale, v[1] * scale, v[2] * scale, v[3] * scale);
  }
  return words;
}

template <class T, int kSize>
__device__ __forceinline__ float largest_of(const Lanes<T, kSize>& values, float largest) {
#pragma unroll
  for (int i = 0; i < kSize; ++i) largest = MaxMagnitude{}(largest, values.v[i]);
  return largest;
}

// raise_amax for blocks of any number of warps, each of which must be here as a whole. `known`:
// bits that *amax has held, so that not every warp has to wait in line there.
__device__ __forceinline__ void raise_amax_of_warp(float value, int known, float* amax) {
  const int bits = __float_as_int(warp_reduce(value, MaxMagnitude{}));
  if (threadIdx.x % kWarp == 0 && bits > known) atomicMax(reinterpret_cast<int*>(amax), bits);
}

// y.rows(rows, width) of the forward.
template <class T>
struct QuantizeY {
  class Writer {
   public:
    __device__ explicit Writer(const QuantizeY& output)
        : out_(output),
          scale_(*output.y.scale),
          known_(output.y.amax != nullptr ? __ldcg(reinterpret_cast<const int*>(output.y.amax))
                                          : std::numeric_limits<int>::max()) {}

    template <class Index>
    __device__ __forceinline__ void put(const Index&, int row, int column, const Packed& packed) {
      const Lanes<T, Vec<T>::kSize> values = unpack<T>(packed);
      largest_ = largest_of(values, largest_);
      uint8_t* to = out_.y.rows + static_cast<int64_t>(row) * out_.width + column;
      store_vec(reinterpret_cast<uint32_t*>(to), quantized<Activation>(values, scale_));
    }
    template <class Index>
    __device__ void put_one(const Index&, int64_t row, int column, T rounded) {
      const float value = static_cast<float>(rounded);
      largest_ = MaxMagnitude{}(largest_, value);
      out_.y.rows[row * out_.width + column] =
          static_cast<uint8_t>(quantize4<Activation>(value * scale_, 0.0f, 0.0f, 0.0f));
    }
    __device__ __forceinline__ void finish() const {
      raise_amax_of_warp(largest_, known_, out_.y.amax);
    }

   private:
    const QuantizeY& out_;
    float scale_, largest_ = 0.0f;
    int known_;
  };

  bool fit_tiles() const { return true; }  // 8-bit matrices start on a multiple of 16 bytes

  QuantizedView<Activation> y;
  int width;
};

// Of the backward pass: y.transposed(width, rows), the forward's output built again, and
// dx.rows(rows, width) with dx.transposed(width, rows); either may be null. A block of kWriters
// threads or more walks panels of kTokens rows, several tiles of the kernel each, gathers them in
// shared memory, and writes the panel out.
template <class T, int kTokens, int kWriters>
struct QuantizePanels {
  // Feature by feature a panel adds 16 or 32 bytes to a line that other blocks fill: it has to stay
  // in the L2 until they do.
  static constexpr bool kStreaming = true;
  // Shared memory lets few blocks on a multiprocessor, and none of them reads while it writes out.
  static constexpr bool kPrefetch = true;

  class Writer {
   public:
    __device__ explicit Writer(const QuantizePanels& output)
        : out_(output),
          y_scale_(output.y.scale != nullptr ? *output.y.scale : 0.0f),
          dx_scale_(output.dx.scale != nullptr ? *output.dx.scale : 0.0f) {}

    __device__ int first_tile() const { return static_cast<int>(blockIdx.x) * out_.panel_tiles; }
    __device__ int tile_after(int tile) const {
      const int other_blocks = static_cast<int>(gridDim.x) - 1;
      const bool last = (tile + 1) * out_.tile_rows % kTokens == 0;
      return tile + 1 + (last ? other_blocks * out_.panel_tiles : 0);
    }

    __device__ __forceinline__ void start(int tile) {
      const int token = tile * out_.tile_rows / kTokens * kTokens;
      if (token != token_ && token_ >= 0) flush();
      token_ = token;
    }

    template <class Index, class Values>
    __device__ __forceinline__ void put(const Index&, int row, int column, const Values& x,
                                        float rstd, const Values& weight, const Packed& dx) {
      const int word = (row & (kTokens - 1)) * tile_stride(out_.width) + column / 4;
      if (out_.y.transposed != nullptr) {
        const Packed y = pack<T>(normed(x, rstd, weight));
        put_words(y_panel() + word, quantized<Activation>(unpack<T>(y), y_scale_));
      }
      if (out_.dx.rows != nullptr) {
        const Values values = unpack<T>(dx);
        largest_ = largest_of(values, largest_);
        const auto words = quantized<Gradient>(values, dx_scale_);
        uint8_t* to = out_.dx.rows + static_cast<int64_t>(row) * out_.width + column;
        store_vec(reinterpret_cast<uint32_t*>(to), words);
        put_words(dx_panel() + word, words);
      }
    }

    __device__ __forceinline__ void finish() {
      flush();
      if (out_.dx.amax != nullptr) raise_amax_of_warp(largest_, 0, out_.dx.amax);
    }

   private:
    __device__ static uint32_t* y_panel() {  // (kTokens, width), as fp8.cuh lays out a tile
      extern __shared__ uint32_t panels[];
      return panels;
    }
    __device__ uint32_t* dx_panel() const {  // likewise
      return y_panel() + (out_.y.transposed != nullptr ? kTokens * tile_stride(out_.width) : 0);
    }
    template <class Words>
    __device__ static void put_words(uint32_t* to, const Words& words) {
#pragma unroll
      for (int w = 0; w < Words::kSize; ++w) to[w] = words.v[w];  // only 4 bytes are aligned
    }

    __device__ __forceinline__ void flush() const {
      const auto write = [&](const uint32_t* panel, uint8_t* to) {
        store_transposed<kWriters, kTokens>(panel, tile_stride(out_.width), out_.width, to,
                                            out_.num_rows, token_);
      };
      __syncthreads();
      if (threadIdx.x < kWriters) {
        if (out_.y.transposed != nullptr) write(y_panel(), out_.y.transposed);
        if (out_.dx.transposed != nullptr) write(dx_panel(), out_.dx.transposed);
      }
      __syncthreads();
    }

    const QuantizePanels& out_;
    float y_scale_, dx_scale_, largest_ = 0.0f;
    int token_ = -1;  // the panel's first row
  };

  QuantizedView<Activation> y;
  QuantizedView<Gradient> dx;
  int64_t num_rows;
  int width;
  int tile_rows, panel_tiles;  // kTokens = their product
};

// y.transposed(width, rows) alone, of rows as they come: a thread takes a feature of 16 of them.
template <class T>
__global__ void __launch_bounds__(kThreads)
    rebuild_y_kernel(Rows<const T> x, const T* weight, const float* rstd,
                     QuantizedView<Activation> y, int64_t num_rows, int width) {
  const int feature_blocks = (width + kThreads - 1) / kThreads;
  const int column = static_cast<int>(blockIdx.x % feature_blocks * kThreads + threadIdx.x);
  const int64_t first_row = static_cast<int64_t>(blockIdx.x / feature_blocks) * kTokensPerVector;
  if (column >= width) return;
  const float w = static_cast<float>(weight[column]), scale = *y.scale;
  Lanes<float, kTokensPerVector> values;
#pragma unroll
  for (int i = 0; i < kTokensPerVector; ++i) {
    const float value = static_cast<float>(x.data[(first_row + i) * x.stride + column]);
    values.v[i] = static_cast<float>(static_cast<T>(value * rstd[first_row + i] * w));
  }
  store_vec(reinterpret_cast<uint32_t*>(y.transposed + column * num_rows + first_row),
            quantized<Activation>(values, scale));
}

// The kernel on panels. Returns how many parts of dweight it left; 0: a panel of such rows does not
// fit, and nothing was done.
template <class Tile, int kTokens, bool kAccumulate, class T>
int64_t backward_panels(Context& ctx, const Backward<T>& norm, const Quantized& y,
                        const Quantized& dx, RowThreads threads) {
  constexpr int kWriters = Tile::kVectors == 4 ? 128 : 256;
  // At least the kernel's arrays for sums; those of narrow rows are larger, but their panels small.
  constexpr int64_t kOwnBytes = 1024;
  using Output = QuantizePanels<T, kTokens, kWriters>;
  check(threads.block >= kWriters, ErrorCode::Internal, "{} threads cannot write a panel out",
        threads.block);

  const cudaDeviceProp& device = ctx.cuda->properties();
  const int num_kept = (y.transposed.defined() ? 1 : 0) + (dx.transposed.defined() ? 1 : 0);
  const int64_t bytes = int64_t{num_kept} * kTokens * tile_stride(norm.width) * 4;
  if (threads.block > Tile::kMostThreads ||
      bytes + kOwnBytes > static_cast<int64_t>(device.sharedMemPerBlockOptin))
    return 0;

  const int rows_at_once = threads.rows_at_once(), tile_rows = Tile::kRows * rows_at_once;
  const Output output{.y = QuantizedView<Activation>(y),
                      .dx = QuantizedView<Gradient>(dx),
                      .num_rows = norm.num_rows,
                      .width = norm.width,
                      .tile_rows = tile_rows,
                      .panel_tiles = kTokens / tile_rows};
  const int64_t num_panels = blocks_for(norm.num_rows, kTokens);
  const int64_t by_memory =
      static_cast<int64_t>(device.sharedMemPerMultiprocessor) /
      (bytes + kOwnBytes + static_cast<int64_t>(device.reservedSharedMemPerBlock));
  const int64_t by_registers = Tile::kMostThreads * Tile::kLeastBlocks / threads.block;
  const int64_t parts_of_block = Tile::kSharers == Sharers::Lanes ? 1 : rows_at_once;
  const int64_t most_parts = rms_norm_backward_blocks(ctx.facts, norm.num_rows, norm.width);
  const int64_t blocks =
      std::min({num_panels, std::min(by_memory, by_registers) * ctx.cuda->num_sms(),
                most_parts / parts_of_block});

  const auto kernel = backward_kernel<T, Tile, kAccumulate, Output>;
  allow_shared_memory(ctx, kernel);
  cuda_check(cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout,
                                  cudaSharedmemCarveoutMaxShared));
  launch({ctx, blocks_for(blocks, 1), static_cast<unsigned>(threads.block),
          static_cast<size_t>(bytes)},
         kernel, norm, output, num_panels * output.panel_tiles, threads.row);
  return blocks * parts_of_block;
}

// The same, with the tile that has the plain kernel's order of sums.
template <bool kAccumulate, class T>
int64_t backward_panels(Context& ctx, const Backward<T>& norm, const Quantized& y,
                        const Quantized& dx) {
  if (!norm.fit_tiles() || dx.rows.defined() != dx.transposed.defined()) return 0;
  int64_t parts = 0;
  with_tile(norm.width / Vec<T>::kSize, 1, [&](auto plain, RowThreads threads) {
    constexpr int kVectors = decltype(plain)::kVectors;
    const auto rows_at_once = [&](int rows) { return RowThreads{rows * threads.row, threads.row}; };
    if constexpr (decltype(plain)::kSharers == Sharers::Lanes) {
      using Chosen = Tile<1, 1, Sharers::Lanes>;
      parts = backward_panels<Chosen, 32, kAccumulate>(ctx, norm, y, dx, threads);
    } else if constexpr (kVectors == 1) {
      using Chosen = Tile<1, 2, Sharers::Warps>;
      parts = backward_panels<Chosen, 32, kAccumulate>(ctx, norm, y, dx,
                                                       rows_at_once(threads.row < 128 ? 4 : 2));
    } else if constexpr (kVectors == 2) {
      using Chosen = Tile<2, 2, Sharers::Warps>;
      parts = backward_panels<Chosen, 32, kAccumulate>(ctx, norm, y, dx, rows_at_once(2));
      if (parts == 0)
        parts = backward_panels<Chosen, 16, kAccumulate>(ctx, norm, y, dx, rows_at_once(2));
    } else {
      using Chosen = Tile<4, 1, Sharers::Warps>;
      parts = backward_panels<Chosen, 16, kAccumulate>(ctx, norm, y, dx, rows_at_once(1));
    }
  });
  return parts;
}

// Whether all was done in one pass.
template <class T>
bool backward_in_one_pass(Context& ctx, const Tensor& dy, const Tensor& x, const Tensor& weight,
                          const Tensor& rstd, const Tensor& dx, bool accumulate_dx,
                          const Tensor& dweight, const Quantized& y, const Quantized& dx8) {
  const int64_t num_rows = x.shape[0], width = x.shape[1];
  const Workspace::Scope scope(ctx.workspace);
  const Tensor partials =
      ctx.workspace.take(DType::F32, {rms_norm_backward_blocks(ctx.facts, num_rows, width), width});
  const Backward<T> norm(dy, x, weight, rstd, dx, partials);
  const int64_t parts = accumulate_dx ? backward_panels<true>(ctx, norm, y, dx8)
                                      : backward_panels<false>(ctx, norm, y, dx8);
  if (parts != 0) rms_norm_add_partials(ctx, partials, parts, dweight);
  return parts != 0;
}

}  // namespace

void rms_norm_forward_fp8(Context& ctx, const Tensor& x, const Tensor& weight, double eps,
                          const Quantized& y, const Tensor& rstd) {
  with_rounded_type(x.dtype, [&](auto tag) {
    using T = decltype(tag);
    const Forward<T> norm(x, weight, eps, rstd);
    forward(ctx, norm, QuantizeY<T>{QuantizedView<Activation>(y), norm.width});
  });
}

void rms_norm_backward_fp8(Context& ctx, const Tensor& dy, const Tensor& x, const Tensor& weight,
                           const Tensor& rstd, const Tensor& dx, bool accumulate_dx,
                           const Tensor& dweight, const Quantized& y, const Quantized& dx8) {
  if (x.shape[0] == 0) return;
  with_rounded_type(x.dtype, [&](auto tag) {
    using T = decltype(tag);
    if (backward_in_one_pass<T>(ctx, dy, x, weight, rstd, dx, accumulate_dx, dweight, y, dx8))
      return;
    if (y.defined()) {
      const int64_t N = x.shape[0], C = x.shape[1];
      launch({ctx, blocks_for(N, kTokensPerVector) * blocks_for(C, kThreads), kThreads},
             rebuild_y_kernel<T>, Rows<const T>(x), static_cast<const T*>(weight.data),
             static_cast<const float*>(rstd.data), QuantizedView<Activation>(y), N, C);
    }
    cuda::rms_norm_backward(ctx, dy, x, weight, rstd, dx, accumulate_dx, dweight, {});
    if (dx8.defined()) cuda::quantize(ctx, dx, dx8);
  });
}

}  // namespace ingot::cuda
