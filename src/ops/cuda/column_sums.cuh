// Sums over the rows of (N, R), per column, in two passes with a fixed order.
#pragma once

#include "ops/cuda/common/lanes.cuh"
#include "ops/cuda/rms_norm/kernels.cuh"
#include "ops/kernels/bias.h"

namespace ingot::cuda {

inline constexpr int kSumWarps = 8;

// Source: kSums, and add<kWidth>(row, column, sums), which adds kWidth elements of a row, starting
// at `column`, to each of its sums. A block sums one part of the rows; each of its warps takes
// every kSumWarps-th row. partials(kSums, parts, R).
template <class T, int kWidth, class Source>
__global__ void __launch_bounds__(kSumWarps* kWarp)
    column_sums_kernel(Source source, int64_t N, int64_t R, Compute<T>* partials) {
  using A = Compute<T>;
  constexpr int kSums = Source::kSums;
  __shared__ A shared[kSumWarps][kWarp * kWidth];
  const int warp = static_cast<int>(threadIdx.x) / kWarp;
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  const int64_t first = static_cast<int64_t>(blockIdx.x) * kWarp * kWidth;
  const int64_t column = first + lane * kWidth;
  const int64_t parts = gridDim.y, part = blockIdx.y;
  A sums[kSums][kWidth] = {};
  if (column < R)
    for (int64_t row = N * part / parts + warp; row < N * (part + 1) / parts; row += kSumWarps)
      source.template add<kWidth>(row, column, sums);
#pragma unroll
  for (int s = 0; s < kSums; ++s) {
    __syncthreads();  // others may still be reading the previous sum
#pragma unroll
    for (int i = 0; i < kWidth; ++i) shared[warp][lane * kWidth + i] = sums[s][i];
    __syncthreads();
    for (int i = static_cast<int>(threadIdx.x); i < kWarp * kWidth && first + i < R;
         i += kSumWarps * kWarp) {
      A sum = 0;
#pragma unroll
      for (int from = 0; from < kSumWarps; ++from) sum += shared[from][i];
      partials[(s * parts + part) * R + first + i] = sum;
    }
  }
}

// sums[s](R) += the sums of `source` over N rows. `fits`: vectors of T can be read.
template <class T, class Source, size_t kSums>
void add_column_sums(Context& ctx, const Source& source, bool fits, int64_t N,
                     const Tensor (&sums)[kSums]) {
  static_assert(kSums == Source::kSums);
  if (N == 0) return;
  const int64_t R = sums[0].numel(), parts = column_parts(N);
  const Workspace::Scope scope(ctx.workspace);
  const Tensor partials =
      ctx.workspace.take(sums[0].dtype, {static_cast<int64_t>(kSums) * parts, R});
  with_width<T>(fits, [&](auto width) {
    launch({ctx, dim3(blocks_for(R, kWarp * width), static_cast<unsigned>(parts)),
            kSumWarps * kWarp},
           column_sums_kernel<T, width, Source>, source, N, R,
           static_cast<Compute<T>*>(partials.data));
  });
  for (size_t s = 0; s < kSums; ++s) {
    const auto at = static_cast<int64_t>(s) * parts;
    rms_norm_add_partials(ctx, partials.slice(0, at, at + parts), parts, sums[s]);
  }
}

}  // namespace ingot::cuda
