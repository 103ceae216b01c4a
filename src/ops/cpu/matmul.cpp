#include "ops/kernels/matmul.h"

#include <algorithm>

#include "ops/cpu/gemm.h"
#include "ops/cpu/kernel.h"
#include "ops/cpu/simd.h"

namespace ingot::cpu::INGOT_ISA {
namespace {

int64_t ceil_div(int64_t n, int64_t d) {
  return (n + d - 1) / d;
}
int64_t round_up(int64_t n, int64_t step) {
  return ceil_div(n, step) * step;
}

struct Grid {
  int64_t rows = 0, cols = 0;  // of one block
};

// The cheapest partition of c for this many threads. (It does not change a bit of c: see
// GemmBlock.) A block of (rows, cols) costs its multiply-adds and the packing of its operands,
// which is worth kPack multiply-adds per element. The threads run the blocks in rounds, and kTail
// of a block is what they may have to wait for the last one.
Grid choose_grid(const Gemm& gemm, int num_threads) {
  constexpr double kPack = 6.5;  // 0.4 cycles per packed element, 16 multiply-adds per cycle
  constexpr double kTail = 0.1;
  constexpr int64_t kBlocksPerThread = 4;
  constexpr double kMultiplyAddsPerBlock = 1e6;  // 20 µs: dispatch is about 1
  const double multiply_adds = static_cast<double>(gemm.M) * static_cast<double>(gemm.N) *
                               static_cast<double>(std::max<int64_t>(1, gemm.K));
  const int64_t most = std::clamp(static_cast<int64_t>(multiply_adds / kMultiplyAddsPerBlock),
                                  int64_t{1}, kBlocksPerThread * num_threads);
  Grid best;
  double best_cost = 0;
  for (int64_t row_cuts = 1; row_cuts <= most; ++row_cuts) {
    const int64_t rows = round_up(ceil_div(gemm.M, row_cuts), kGemmRowStep);
    for (int64_t col_cuts = 1; row_cuts * col_cuts <= most; ++col_cuts) {
      const int64_t cols = round_up(ceil_div(gemm.N, col_cuts), kGemmColStep);
      const int64_t blocks = ceil_div(gemm.M, rows) * ceil_div(gemm.N, cols);
      const double rounds = static_cast<double>(ceil_div(blocks, num_threads)) + kTail;
      const double m = static_cast<double>(rows), n = static_cast<double>(cols);
      const double cost = rounds * (m * n + kPack * (m + n));
      if (best.rows == 0 || cost < best_cost) {
        best = {rows, cols};
        best_cost = cost;
      }
    }
  }
  return best;
}

void blocked_gemm(Context& ctx, const Gemm& gemm) {
  const Grid grid = choose_grid(gemm, ctx.pool->num_threads());
  const int64_t across = ceil_div(gemm.N, grid.cols);
  ctx.pool->run(ceil_div(gemm.M, grid.rows) * across, [&](int64_t task, int) {
    const int64_t row = task / across * grid.rows, col = task % across * grid.cols;
    const GemmBlock block{row, col, std::min(grid.rows, gemm.M - row),
                          std::min(grid.cols, gemm.N - col)};
    INGOT_DOT_DISPATCH(gemm_block, gemm, block);
  });
}

// The reference for gradient checks: plain loops.
void double_gemm(Context& ctx, const Gemm& gemm) {
  struct View {
    const double* data;
    int64_t row, col;
    double operator()(int64_t i, int64_t j) const { return data[i * row + j * col]; }
  };
  const auto view = [](const GemmOperand& m) {
    return View{static_cast<const double*>(m.data), m.transposed ? 1 : m.stride,
                m.transposed ? m.stride : 1};
  };
  const View a = view(gemm.a), b = view(gemm.b);
  for_chunks(ctx, gemm.M, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      double* c = static_cast<double*>(gemm.c) + i * gemm.c_stride;
      for (int64_t j = 0; j < gemm.N; ++j) {
        double sum = 0;
        for (int64_t k = 0; k < gemm.K; ++k) sum += a(i, k) * b(k, j);
        c[j] = gemm.accumulate ? c[j] + sum : sum;
      }
    }
  });
}

}  // namespace

void matmul(Context& ctx, const Gemm& gemm) {
  if (gemm.M == 0 || gemm.N == 0) return;
  if (gemm.a.dtype == DType::F64) return double_gemm(ctx, gemm);
  blocked_gemm(ctx, gemm);
}

}  // namespace ingot::cpu::INGOT_ISA

#include "core/device/isa_end.h"
