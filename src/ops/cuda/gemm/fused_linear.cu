#include "ops/kernels/fused_linear.h"

#include <algorithm>
#include <unordered_map>

#include "ops/cuda/gemm/thin.h"
#include "ops/cuda/hopper/maps.cuh"
#include "ops/cuda/hopper/rope.cuh"
#include "ops/cuda/hopper/swiglu.cuh"

namespace ingot::cuda {
namespace {

using hopper::kPieceWidth;

// One per CudaContext: what launches need to know of the GPU and its driver.
class HopperGemms : public HopperMaps {
 public:
  using HopperMaps::HopperMaps;

  // matrix(rows, columns), or `parts` of them below each other, in boxes of a piece.
  CUtensorMap pieces(const Tensor& matrix, int64_t parts = 1) const {
    const int64_t rows = matrix.shape[0] / parts, columns = matrix.shape[1];
    return map<3>(matrix, {columns, rows, parts}, {columns, rows * columns},
                  {kPieceWidth, kPieceWidth, 1});
  }

  // matrix(N, columns), or `parts` of them beside each other, in slivers.
  CUtensorMap slivers(const Tensor& matrix, int64_t parts = 1) const {
    const int64_t pitch = matrix.shape[1], columns = pitch / parts;
    return map<5>(matrix, {columns, 8, 2, matrix.shape[0] / 16, parts},
                  {pitch, 8 * pitch, 16 * pitch, columns}, {kPieceWidth, 8, 1, 4, 1});
  }

  template <class Epilogue>
  void run(Context& ctx, const Tensor& a, const CUtensorMap& b,
           const typename Epilogue::Arguments& arguments, int64_t column_tiles) {
    using namespace hopper;
    constexpr int kBytes = shared_bytes<Epilogue>();
    const auto kernel = gemm_kernel<Epilogue>;
    const auto tiles = [](int64_t extent, int64_t tile) {
      return static_cast<int>((extent + tile - 1) / tile);
    };
    const Extents extents{tiles(a.shape[0], kClusterBlocks * kTileRows),
                          static_cast<int>(column_tiles), tiles(a.shape[1], kTileDepth)};
    // Every block has a tile.
    const auto most =
        static_cast<unsigned>(kClusterBlocks * extents.row_tiles * extents.column_tiles);
    const unsigned blocks =
        std::min(most, blocks_of(ctx, reinterpret_cast<const void*>(kernel), kBytes));
    launch({ctx, blocks, kBlockThreads, kBytes}, kernel, pieces(a), b, arguments, extents);
  }

 private:
  // As many as the GPU holds at once.
  unsigned blocks_of(const Context& ctx, const void* kernel, int shared_bytes) {
    using namespace hopper;
    if (const auto found = blocks_.find(kernel); found != blocks_.end()) return found->second;
    allow_shared_memory(ctx, kernel);
    cudaLaunchAttribute cluster{};
    cluster.id = cudaLaunchAttributeClusterDimension;
    cluster.val.clusterDim = {kClusterBlocks, 1, 1};
    cudaLaunchConfig_t config{};
    config.gridDim = kClusterBlocks;
    config.blockDim = kBlockThreads;
    config.dynamicSmemBytes = static_cast<size_t>(shared_bytes);
    config.attrs = &cluster;
    config.numAttrs = 1;
    int clusters = 0;
    cuda_check(cudaOccupancyMaxActiveClusters(&clusters, kernel, &config));
    return blocks_[kernel] = static_cast<unsigned>(clusters * kClusterBlocks);
  }

  std::unordered_map<const void*, unsigned> blocks_;  // by kernel
};

// Whether the copy unit can take a matrix: bf16, rows that follow each other and begin at multiples
// of 16 bytes.
bool fits(const Tensor& matrix) {
  return matrix.dtype == DType::BF16 && matrix.is_contiguous() &&
         fits_vec(static_cast<const __nv_bfloat16*>(matrix.data), matrix.shape[1]);
}

// For y(N, R) and x(N, C). The epilogues take sixteen rows at a time, and a GEMM of less than
// kMultiplyAdds is over before a persistent kernel has begun (estimated). A cluster's tile has 256
// rows: for the few of a decoder's step, half the GPU would read all of w.
bool worth_it(const Tensor& x, int64_t columns) {
  constexpr int64_t kMultiplyAdds = 100'000'000, kFewRows = 256;
  return x.shape[0] % 16 == 0 && x.shape[0] > kFewRows &&
         x.shape[0] * x.shape[1] * columns >= kMultiplyAdds;
}

}  // namespace

bool linear_swiglu_forward(Context& ctx, const Tensor& x, const Tensor& w, const Tensor& gate_up,
                           const Tensor& out) {
  using hopper::SwigluForward;
  if (thin_swiglu(ctx, x, w, gate_up, out)) return true;
  auto& gemms = ctx.cuda->library<HopperGemms>();
  if (!gemms.available() || !fits(x) || !fits(w) || !fits(out) || !fits(gate_up) ||
      !worth_it(x, w.shape[0]))
    return false;
  const int64_t F = out.shape[1];
  gemms.run<SwigluForward>(ctx, x, gemms.pieces(w, 2),
                           {gemms.slivers(gate_up, 2), gemms.slivers(out)},
                           (F + SwigluForward::kActColumns - 1) / SwigluForward::kActColumns);
  return true;
}

bool linear_swiglu_backward(Context& ctx, const Tensor& dy, const Tensor& w, const Tensor& gate_up,
                            const Tensor& dgate_up, const Tensor& out, bool out_is_kept) {
  using hopper::kTileColumns;
  auto& gemms = ctx.cuda->library<HopperGemms>();
  if (!gemms.available() || !fits(dy) || !fits(w) || !fits(out) || !fits(gate_up) ||
      !fits(dgate_up) || !worth_it(dy, w.shape[1]))
    return false;
  const auto run = [&]<bool kBuild>(std::bool_constant<kBuild>) {
    gemms.run<hopper::SwigluBackward<kBuild>>(
        ctx, dy, gemms.pieces(w),
        {gemms.slivers(gate_up, 2), gemms.slivers(dgate_up, 2), gemms.slivers(out)},
        (out.shape[1] + kTileColumns - 1) / kTileColumns);
  };
  out_is_kept ? run(std::false_type{}) : run(std::true_type{});
  return true;
}

bool linear_rope_forward(Context& ctx, const Tensor& x, const Tensor& w, const Tensor& y,
                         const Tensor& heads, const RopeInput& rope) {
  using hopper::kTileColumns;
  if (thin_rope(ctx, x, w, y, heads, rope)) return true;
  auto& gemms = ctx.cuda->library<HopperGemms>();
  const int64_t T = heads.shape[1], H = heads.shape[2], D = heads.shape[3];
  const bool first_columns = heads.data == y.data && heads.strides[2] == D &&
                             heads.strides[1] == y.strides[0] && heads.shape[0] * T == y.shape[0];
  if (!gemms.available() || !fits(x) || !fits(w) || !fits(y) || !worth_it(x, w.shape[0]) ||
      !first_columns || (D != 64 && D != 128) || rope.pairs != RopePairs::HalfSplit ||
      rope.first_position != 0)
    return false;
  const auto run = [&]<int kHead>(std::integral_constant<int, kHead>) {
    gemms.run<hopper::RopeForward<kHead>>(
        ctx, x, gemms.pieces(w),
        {.y = gemms.slivers(y),
         .cos = rope.cos.as<float>(),
         .sin = rope.sin.as<float>(),
         .positions = rope.positions.defined() ? rope.positions.as<int32_t>() : nullptr,
         .tokens_per_row = static_cast<int>(T),
         .num_rows = static_cast<int>(y.shape[0]),
         .rotated = static_cast<int>(H * D)},
        (y.shape[1] + kTileColumns - 1) / kTileColumns);
  };
  D == 64 ? run(std::integral_constant<int, 64>{}) : run(std::integral_constant<int, 128>{});
  return true;
}

}  // namespace ingot::cuda
