#include "ops/kernels/packed_linear.h"

#include <algorithm>
#include <cstring>

#include "core/tensor/q8_0.h"
#include "ops/cpu/dot/packed_tiles.h"
#include "ops/cpu/gemm.h"

namespace ingot::cpu::INGOT_ISA {
namespace {

int64_t ceil_div(int64_t n, int64_t d) {
  return (n + d - 1) / d;
}

// The rows of x in groups of about equal heights that tiles have. The last may be shorter.
struct Groups {
  Groups(int64_t rows, int64_t max_height)
      : N(rows), height(tile_height(ceil_div(rows, ceil_div(rows, max_height)))) {}
  int64_t N, height;
  int64_t count() const { return ceil_div(N, height); }
  int64_t rows(int64_t group) const { return std::min(height, N - group * height); }
  int64_t padded_rows(int64_t group) const { return tile_height(rows(group)); }
};

// The rows of a group, as pack_x() of a format takes them; rows beyond the last repeat it.
struct GroupRows {
  const float* row[kMaxTileRows];

  GroupRows(const PackedGemm& gemm, const Groups& groups, int64_t group) {
    for (int64_t i = 0; i < groups.padded_rows(group); ++i) {
      const int64_t n = std::min(group * groups.height + i, gemm.N - 1);
      row[i] = gemm.x + n * gemm.x_stride;
    }
  }
};

// What the tiles of a group fetch, w of the next step being at `next`: of one group, what it reads
// soon itself; of two, each a half; of more, the first two.
Ahead ahead_of(int64_t group, int64_t num_groups, const std::byte* w, const std::byte* next,
               int64_t lines) {
  constexpr int64_t kDistance = 4096;
  if (num_groups == 1) return {w + kDistance, 2};
  if (group < 2) return {next + group * lines * kLineBytes, 1};
  return {};
}

// F32 and BF16: units of a panel are summed in the parts of gemm.h.
template <class Format>
struct FloatGemm {
  const PackedGemm& gemm;
  Groups groups;
  const uint32_t* x;  // packed

  int64_t num_units() const { return ceil_div(gemm.w.cols, Format::kUnitCols); }
  int64_t group_words() const { return groups.height * num_units() * Format::kWords; }

  // One part of k of one group and one panel; the next step's weights are next_bytes behind.
  void multiply(int64_t panel, int64_t group, int64_t unit, int64_t end, int64_t next_bytes) const {
    const int64_t rows = groups.rows(group), padded = groups.padded_rows(group);
    const int64_t row = group * groups.height, col = panel * kPanelRows;
    float* y = gemm.y + row * gemm.y_stride + col;
    const float* start = unit > 0 ? y : gemm.addend;
    int64_t start_stride = gemm.y_stride;
    if (unit == 0 && gemm.addend != nullptr) {
      start += row * gemm.addend_stride + col;
      start_stride = gemm.addend_stride;
    }
    const TileOutput output{
        y, gemm.y_stride, start, start_stride, rows, std::min(kPanelRows, gemm.w.rows - col)};
    const std::byte* w = static_cast<const std::byte*>(gemm.w.bytes.data) +
                         (panel * num_units() + unit) * kUnitBytes;
    const Ahead ahead = ahead_of(group, groups.count(), w, w + next_bytes, end - unit);
    float_panel<Format>(padded, end - unit, w,
                        x + group * group_words() + unit * padded * Format::kWords, ahead, output);
  }

  // All of k for panels [begin, end). A few groups stay in L1, so that the weights are one stream;
  // of many, one part of k at a time stays in L2.
  void run(int64_t begin, int64_t end) const {
    constexpr int64_t kFewGroups = 4;
    const int64_t part = gemm_part(gemm.w.cols) / Format::kUnitCols, units = num_units();
    const int64_t together = groups.count() <= kFewGroups ? 1 : end - begin;
    for (int64_t first = begin; first < end; first += together) {
      int64_t unit = 0;
      do {
        const int64_t unit_end = std::min(unit + part, units);
        for (int64_t panel = first; panel < first + together; ++panel)
          for (int64_t group = 0; group < groups.count(); ++group)
            multiply(panel, group, unit, unit_end,
                     (together == 1 ? unit_end - unit : units) * kUnitBytes);
        unit += part;
      } while (unit < units);
    }
  }
};

struct BlockGemm {
  const PackedGemm& gemm;
  Groups groups;
  const uint32_t* x;  // packed

  int64_t num_blocks() const { return gemm.w.cols / kQ8Block; }
  int64_t group_words() const { return groups.height * num_blocks() * kBlockWords; }

  void multiply(int64_t panel, int64_t group, int64_t block, int64_t end,
                int64_t next_bytes) const {
    const int64_t rows = groups.rows(group), padded = groups.padded_rows(group);
    const int64_t row = group * groups.height, col = panel * kPanelRows;
    float* y = gemm.y + row * gemm.y_stride + col;
    const TileOutput output{y,
                            gemm.y_stride,
                            block > 0 ? y : nullptr,
                            gemm.y_stride,
                            rows,
                            std::min(kPanelRows, gemm.w.rows - col)};
    const float* addend = end == num_blocks() && gemm.addend != nullptr
                              ? gemm.addend + row * gemm.addend_stride + col
                              : nullptr;
    const std::byte* w = static_cast<const std::byte*>(gemm.w.bytes.data) +
                         (panel * num_blocks() + block) * kBlockBytes;
    const Ahead ahead =
        ahead_of(group, groups.count(), w, w + next_bytes, (end - block) * (kBlockUnits + 1));
    block_panel(padded, end - block, w, x + group * group_words() + block * padded * kBlockWords,
                ahead, output, addend, gemm.addend_stride);
  }

  void run(int64_t begin, int64_t end) const {
    constexpr int64_t kFewGroups = 8, kPartBlocks = 16;
    const bool few = groups.count() <= kFewGroups;
    const int64_t together = few ? 1 : end - begin;
    for (int64_t first = begin; first < end; first += together) {
      int64_t block = 0;
      do {
        const int64_t block_end = std::min(block + kPartBlocks, num_blocks());
        for (int64_t panel = first; panel < first + together; ++panel)
          for (int64_t group = 0; group < groups.count(); ++group)
            multiply(panel, group, block, block_end,
                     (together == 1 ? block_end - block : num_blocks()) * kBlockBytes);
        block = block_end;
      } while (block < num_blocks());
    }
  }
};

// Runs `gemm` over all panels. A task is a range of them; which ranges changes no bit.
template <class G>
void run_panels(Context& ctx, const PackedGemm& gemm, const G& g) {
  constexpr int64_t kTasksPerThread = 8, kMinTaskBytes = 1 << 16;
  const int64_t panels = ceil_div(gemm.w.rows, kPanelRows);
  const int64_t panel_bytes = std::max<int64_t>(1, gemm.w.bytes.bytes() / panels);
  const int64_t wanted = ceil_div(panels, kTasksPerThread * ctx.pool->num_threads());
  const int64_t least = gemm.N < kMaxTileRows ? ceil_div(kMinTaskBytes, panel_bytes) : int64_t{1};
  const int64_t chunk = std::max(wanted, least);
  ctx.pool->run(ceil_div(panels, chunk), [&](int64_t task, int) {
    g.run(task * chunk, std::min(panels, (task + 1) * chunk));
  });
}

template <class Format>
void float_gemm(Context& ctx, const PackedGemm& gemm) {
  const Groups groups{gemm.N, Format::kMaxRows};
  auto* const packed = reinterpret_cast<uint32_t*>(gemm.scratch);
  const FloatGemm<Format> g{gemm, groups, packed};
  ctx.pool->run(groups.count(), [&](int64_t group, int) {
    Format::pack_x(GroupRows(gemm, groups, group).row, groups.padded_rows(group), gemm.w.cols,
                   packed + group * g.group_words());
  });
  run_panels(ctx, gemm, g);
}

void block_gemm(Context& ctx, const PackedGemm& gemm) {
  const Groups groups{gemm.N, kMaxBlockRows};
  auto* const packed = reinterpret_cast<uint32_t*>(gemm.scratch);
  const BlockGemm g{gemm, groups, packed};
  ctx.pool->run(groups.count(), [&](int64_t group, int) {
    pack_x_blocks(GroupRows(gemm, groups, group).row, groups.padded_rows(group), g.num_blocks(),
                  packed + group * g.group_words());
  });
  run_panels(ctx, gemm, g);
}

}  // namespace

void packed_gemm(Context& ctx, const PackedGemm& gemm) {
  switch (gemm.w.format) {
    case WeightFormat::F32:
      return float_gemm<F32Format>(ctx, gemm);
    case WeightFormat::BF16:
      return float_gemm<Bf16Format>(ctx, gemm);
    case WeightFormat::Q8_0:
      return block_gemm(ctx, gemm);
  }
}

}  // namespace ingot::cpu::INGOT_ISA

#include "core/device/isa_end.h"
