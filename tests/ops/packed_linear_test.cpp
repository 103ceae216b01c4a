#include "ops/packed_linear.h"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <numeric>
#include <random>
#include <vector>

#include "core/device/isa.h"
#include "core/error/error.h"
#include "core/tensor/q8_0.h"
#include "ops/matmul.h"
#include "rig.h"

namespace ingot {
namespace {

using test::view;

std::vector<float> normal(int64_t count, unsigned seed) {
  std::mt19937 rng(seed);
  std::normal_distribution<float> draw;
  std::vector<float> values(static_cast<size_t>(count));
  for (float& value : values) value = draw(rng);
  return values;
}

// Weights, and memory for them in panels.
struct Packed {
  Packed(WeightFormat format, int64_t rows, int64_t cols, unsigned seed = 1)
      : values(normal(rows * cols, seed)),
        arena(Device::cpu(), packed_bytes(format, rows, cols)),
        w{arena.place(0, DType::U8, {packed_bytes(format, rows, cols)}), format, rows, cols} {
    test::Rig rig;
    pack_rows(rig.ctx, view(values, {rows, cols}), 0, w);
  }
  // What the packed weights stand for.
  std::vector<float> unpacked() const {
    std::vector<int32_t> ids(static_cast<size_t>(w.rows));
    std::iota(ids.begin(), ids.end(), 0);
    std::vector<float> y(values.size());
    test::Rig rig;
    unpack_rows(rig.ctx, w, view(ids, {w.rows}), view(y, {w.rows, w.cols}));
    return y;
  }
  std::vector<float> values;
  Arena arena;
  PackedWeight w;
};

// y(N, rows), with an addend if there is one.
std::vector<float> forward(const Packed& packed, std::vector<float>& x, int64_t N, int threads = 2,
                           std::vector<float> addend = {}) {
  const auto& w = packed.w;
  ThreadPool pool(threads);
  test::Rig rig(packed_linear_workspace_bytes(w.format, N, w.cols));
  rig.ctx.pool = &pool;
  std::vector<float> y(static_cast<size_t>(N * w.rows), -77.0f);
  packed_linear_forward(rig.ctx, view(x, {N, w.cols}), w, view(y, {N, w.rows}),
                        addend.empty() ? Tensor{} : view(addend, {N, w.rows}));
  return y;
}

class PackedLinear : public ::testing::Test {
 protected:
  ~PackedLinear() override { cpu::force_isa(cpu::best_isa()); }
  // Runs f on each set of instructions that the machine has.
  void on_each_isa(auto f) {
    for (const cpu::DotIsa isa : cpu::kAllDotIsas) {
      if (!cpu::can_run(isa)) continue;
      cpu::force_dot_isa(isa);
      SCOPED_TRACE(cpu::name_of(isa));
      f();
    }
  }
};

enum class ScaleOf { Inputs, Weights };  // F32, or rounded to 16 bits

// x as a format multiplies it, or weights as it stores them.
std::vector<float> rounded(WeightFormat format, std::vector<float> x, ScaleOf scale_of) {
  if (format == WeightFormat::BF16)
    for (float& value : x) value = Bf16::from_float(value).to_float();
  if (format != WeightFormat::Q8_0) return x;
  for (size_t at = 0; at < x.size(); at += kQ8Block) {
    int8_t codes[kQ8Block];
    float scale = quantize_q8_0(x.data() + at, codes);
    if (scale_of == ScaleOf::Weights) scale = F16::from_float(scale).to_float();
    for (size_t i = 0; i < kQ8Block; ++i) x[at + i] = scale * static_cast<float>(codes[i]);
  }
  return x;
}

void expect_exact_sums(WeightFormat format, int64_t N, int64_t rows, int64_t cols) {
  SCOPED_TRACE(fmt::format("{} ({}, {}) x {}", name_of(format), rows, cols, N));
  const Packed packed(format, rows, cols);
  const std::vector<float> w = packed.unpacked();
  std::vector<float> x = normal(N * cols, 2), addend = normal(N * rows, 3);
  const std::vector<float> exact_x = rounded(format, x, ScaleOf::Inputs);
  const std::vector<float> plain = forward(packed, x, N), added = forward(packed, x, N, 2, addend);
  for (int64_t n = 0; n < N; ++n) {
    for (int64_t r = 0; r < rows; ++r) {
      double sum = 0, magnitude = 0;
      for (int64_t k = 0; k < cols; ++k) {
        const double term = static_cast<double>(exact_x[static_cast<size_t>(n * cols + k)]) *
                            static_cast<double>(w[static_cast<size_t>(r * cols + k)]);
        sum += term;
        magnitude += std::abs(term);
      }
      const auto i = static_cast<size_t>(n * rows + r);
      const double bound = static_cast<double>(cols + 4) * 6e-8 * (magnitude + 1);
      ASSERT_NEAR(plain[i], sum, bound) << n << ", " << r;
      ASSERT_NEAR(added[i], sum + static_cast<double>(addend[i]), bound * 2) << n << ", " << r;
    }
  }
}

TEST_F(PackedLinear, AgreesWithExactSumsOnEveryIsa) {
  on_each_isa([] {
    for (const WeightFormat format : kAllWeightFormats) {
      for (const int64_t N : {1, 2, 3, 4, 5, 7, 11, 12, 13, 29})
        expect_exact_sums(format, N, 70, 96);
      expect_exact_sums(format, 1, 1, 32);
      expect_exact_sums(format, 5, 32, 1056);
      expect_exact_sums(format, 130, 97, 544);
    }
    for (const WeightFormat format : {WeightFormat::F32, WeightFormat::BF16})
      for (const int64_t cols : {1, 7, 333}) expect_exact_sums(format, 3, 40, cols);
  });
}

TEST_F(PackedLinear, F32HasTheBitsOfLinearForward) {
  on_each_isa([] {
    constexpr int64_t kRows = 75, kCols = 700;
    Packed packed(WeightFormat::F32, kRows, kCols);
    for (const int64_t N : {1, 8, 9, 40}) {
      std::vector<float> x = normal(N * kCols, 2), addend = normal(N * kRows, 3);
      std::vector<float> y(addend.size());
      test::Rig rig;
      linear_forward(rig.ctx, view(x, {N, kCols}), view(packed.values, {kRows, kCols}),
                     view(y, {N, kRows}));
      EXPECT_EQ(forward(packed, x, N), y) << N;
      linear_forward(rig.ctx, view(x, {N, kCols}), view(packed.values, {kRows, kCols}),
                     view(y, {N, kRows}), view(addend, {N, kRows}));
      EXPECT_EQ(forward(packed, x, N, 2, addend), y) << N;
    }
  });
}

TEST_F(PackedLinear, ARowsBitsDoNotDependOnOtherRowsOrThreads) {
  on_each_isa([] {
    constexpr int64_t kRows = 150, kCols = 1312, kMost = 130;
    for (const WeightFormat format : kAllWeightFormats) {
      const Packed packed(format, kRows, kCols);
      std::vector<float> x = normal(kMost * kCols, 2), addend = normal(kMost * kRows, 3);
      const std::vector<float> together = forward(packed, x, kMost, 1, addend);
      for (const int threads : {2, 3, 7})
        ASSERT_EQ(forward(packed, x, kMost, threads, addend), together) << threads;
      for (const int64_t N : {1, 2, 3, 5, 7, 16, 64}) {
        for (const int64_t first : {int64_t{0}, kMost - N}) {
          std::vector<float> part(x.begin() + first * kCols, x.begin() + (first + N) * kCols);
          const std::vector<float> part_addend(addend.begin() + first * kRows,
                                               addend.begin() + (first + N) * kRows);
          const std::vector<float> expected(together.begin() + first * kRows,
                                            together.begin() + (first + N) * kRows);
          ASSERT_EQ(forward(packed, part, N, 2, part_addend), expected)
              << name_of(format) << ", " << N << " rows from " << first;
        }
      }
    }
  });
}

TEST_F(PackedLinear, Q8HasTheSameBitsOnEveryIsa) {
  std::vector<std::vector<float>> results;
  // Weights so small that their 16-bit scales are denormal, and others.
  Packed packed(WeightFormat::Q8_0, 50, 320);
  for (size_t i = 0; i < packed.values.size(); ++i)
    packed.values[i] *= i / 320 % 3 == 0 ? 1e-3f : i / 320 % 3 == 1 ? 1.0f : 1e-6f;
  on_each_isa([&] {
    test::Rig rig;
    pack_rows(rig.ctx, view(packed.values, {50, 320}), 0, packed.w);
    std::vector<float> x = normal(19 * 320, 5);
    results.push_back(forward(packed, x, 19));
    EXPECT_EQ(results.back(), results.front());
  });
}

// The bytes of the block at column k of a row.
std::vector<uint8_t> block_of(const PackedWeight& w, int64_t row, int64_t k) {
  const auto* bytes = static_cast<const uint8_t*>(w.bytes.data);
  const uint8_t* block = bytes + row / kPanelRows * kPanelRows * w.cols / 32 * 34 + k / 32 * 1088;
  const int64_t lane = row % kPanelRows;
  std::vector<uint8_t> found(block + lane * 2, block + lane * 2 + 2);
  for (int64_t i = 0; i < 32; ++i)
    found.push_back(static_cast<uint8_t>(block[64 + i / 4 * 128 + lane * 4 + i % 4] - 128));
  return found;
}

// As ggml's quantize_row_q8_0_ref().
std::vector<uint8_t> ggml_block(const float* x) {
  float largest = 0;
  for (int i = 0; i < 32; ++i) largest = std::max(largest, std::abs(x[i]));
  const float scale = largest / 127.0f, inverse = scale == 0.0f ? 0.0f : 1.0f / scale;
  const uint16_t bits = F16::from_float(scale).bits;
  std::vector<uint8_t> block = {static_cast<uint8_t>(bits), static_cast<uint8_t>(bits >> 8)};
  for (int i = 0; i < 32; ++i)
    block.push_back(static_cast<uint8_t>(static_cast<int8_t>(std::round(x[i] * inverse))));
  return block;
}

TEST_F(PackedLinear, Q8BlocksAreThoseOfGgml) {
  on_each_isa([] {
    constexpr int64_t kRows = 45, kCols = 96;
    Packed packed(WeightFormat::Q8_0, kRows, kCols);
    // Ties: multiples of half a step, and what lies just below one.
    for (int64_t k = 0; k < 32; ++k)
      packed.values[static_cast<size_t>(k)] = 0.5f * static_cast<float>(k);
    packed.values[31] = 127.0f;
    packed.values[30] = std::nextafter(0.5f, 0.0f);
    packed.values[29] = -packed.values[30];
    for (size_t k = 32; k < 64; ++k) packed.values[k] = 0.0f;
    test::Rig rig;
    pack_rows(rig.ctx, view(packed.values, {kRows, kCols}), 0, packed.w);
    for (int64_t row = 0; row < kRows; ++row)
      for (int64_t k = 0; k < kCols; k += 32)
        ASSERT_EQ(block_of(packed.w, row, k), ggml_block(packed.values.data() + row * kCols + k))
            << row << ", " << k;
  });
}

TEST_F(PackedLinear, RowsComeBackAsTheyWerePacked) {
  on_each_isa([] {
    for (const WeightFormat format : kAllWeightFormats) {
      Packed packed(format, 40, 64);
      EXPECT_EQ(packed.unpacked(), rounded(format, packed.values, ScaleOf::Weights));
      // In pieces: the same bytes.
      Packed pieces(format, 40, 64, 9);
      test::Rig rig;
      Tensor rows = view(packed.values, {40, 64});
      for (const auto& [begin, end] : {std::pair{37, 40}, {0, 5}, {5, 37}})
        pack_rows(rig.ctx, rows.slice(0, begin, end), begin, pieces.w);
      EXPECT_EQ(pieces.unpacked(), packed.unpacked());
    }
  });
}

TEST_F(PackedLinear, RowsMayBeStridedAndTheAddendMayBeTheOutput) {
  constexpr int64_t kN = 3, kRows = 33, kCols = 64, kPad = 5;
  for (const WeightFormat format : kAllWeightFormats) {
    const Packed packed(format, kRows, kCols);
    std::vector<float> wide_x = normal(kN * (kCols + kPad), 2);
    std::vector<float> wide_y = normal(kN * (kRows + kPad), 3), before = wide_y;
    std::vector<float> x, y;
    for (int64_t n = 0; n < kN; ++n) {
      x.insert(x.end(), wide_x.begin() + n * (kCols + kPad),
               wide_x.begin() + n * (kCols + kPad) + kCols);
      y.insert(y.end(), wide_y.begin() + n * (kRows + kPad),
               wide_y.begin() + n * (kRows + kPad) + kRows);
    }
    const std::vector<float> expected = forward(packed, x, kN, 2, y);
    test::Rig rig;
    const Tensor x_rows = view(wide_x, {kN, kCols + kPad}).slice(1, 0, kCols);
    const Tensor y_rows = view(wide_y, {kN, kRows + kPad}).slice(1, 0, kRows);
    packed_linear_forward(rig.ctx, x_rows, packed.w, y_rows, y_rows);
    for (int64_t n = 0; n < kN; ++n) {
      for (int64_t r = 0; r < kRows + kPad; ++r) {
        const auto i = static_cast<size_t>(n * (kRows + kPad) + r);
        ASSERT_EQ(wide_y[i], r < kRows ? expected[static_cast<size_t>(n * kRows + r)] : before[i]);
      }
    }
  }
}

TEST_F(PackedLinear, ANanStaysInItsRow) {
  on_each_isa([] {
    for (const WeightFormat format : kAllWeightFormats) {
      const Packed packed(format, 40, 64);
      std::vector<float> x = normal(5 * 64, 2);
      x[3 * 64 + 7] = std::nanf("");
      const std::vector<float> y = forward(packed, x, 5);
      for (size_t i = 0; i < y.size(); ++i) ASSERT_EQ(std::isnan(y[i]), i / 40 == 3) << i;
    }
  });
}

TEST_F(PackedLinear, NothingIsDoneForNoRows) {
  const Packed packed(WeightFormat::Q8_0, 40, 64);
  std::vector<float> none;
  EXPECT_TRUE(forward(packed, none, 0).empty());
}

TEST_F(PackedLinear, WrongOperandsAreNamed) {
  EXPECT_THROW(packed_bytes(WeightFormat::Q8_0, 4, 33), Error);
  EXPECT_FALSE(parse_weight_format("q4_0").has_value());
  for (const WeightFormat format : kAllWeightFormats)
    EXPECT_EQ(parse_weight_format(name_of(format)), format);

  Packed packed(WeightFormat::Q8_0, 4, 64);
  test::Rig rig;
  std::vector<float> x(2 * 64), y(2 * 4), other(2 * 5);
  EXPECT_THROW(packed_linear_forward(rig.ctx, view(x, {2, 64}), packed.w, view(other, {2, 5})),
               Error);
  EXPECT_THROW(packed_linear_forward(rig.ctx, view(y, {2, 4}), packed.w, view(y, {2, 4})), Error);
  EXPECT_THROW(pack_rows(rig.ctx, view(x, {2, 64}), 3, packed.w), Error);
  std::vector<int32_t> ids = {1, 4};
  EXPECT_THROW(unpack_rows(rig.ctx, packed.w, view(ids, {2}), view(x, {2, 64})), Error);
  x[0] = 1e7f;
  EXPECT_THROW(pack_rows(rig.ctx, view(x, {2, 64}), 0, packed.w), Error);
}

}  // namespace
}  // namespace ingot
