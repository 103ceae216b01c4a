#include "ops/rope.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "core/error/error.h"
#include "rig.h"

namespace ingot {
namespace {

using test::view;

constexpr int64_t B = 2, T = 3, H = 2, D = 10, kContext = 8;

struct Tables {
  std::vector<float> cos = std::vector<float>(kContext * D / 2);
  std::vector<float> sin = std::vector<float>(kContext * D / 2);
  explicit Tables(Context& ctx) { rope_table(ctx, {}, cos_view(), sin_view()); }
  Tensor cos_view() { return view(cos, {kContext, D / 2}); }
  Tensor sin_view() { return view(sin, {kContext, D / 2}); }
  RopeInput input(RopePairs pairs, const Tensor& positions = {}, int64_t first_position = 0) {
    return {cos_view(), sin_view(), positions, first_position, pairs};
  }
};

std::vector<float> heads() {
  std::vector<float> x;
  for (int i = 0; i < B * T * H * D; ++i) x.push_back(std::sin(static_cast<float>(i)));
  return x;
}

class Rope : public ::testing::TestWithParam<RopePairs> {};

TEST_P(Rope, BackwardUndoesForward) {
  test::Rig rig;
  Tables tables(rig.ctx);
  std::vector<float> x = heads();
  const Tensor t = view(x, {B, T, H, D});
  rope_forward(rig.ctx, t, tables.input(GetParam()));
  EXPECT_NE(x, heads());
  rope_backward(rig.ctx, t, tables.input(GetParam()));
  const std::vector<float> original = heads();
  for (size_t i = 0; i < x.size(); ++i) EXPECT_NEAR(x[i], original[i], 1e-6);
}

TEST_P(Rope, FirstPositionEqualsExplicitPositions) {
  test::Rig rig;
  Tables tables(rig.ctx);
  std::vector<float> shifted = heads(), placed = heads();
  std::vector<int32_t> positions = {4, 5, 6, 4, 5, 6};
  rope_forward(rig.ctx, view(shifted, {B, T, H, D}), tables.input(GetParam(), {}, 4));
  rope_forward(rig.ctx, view(placed, {B, T, H, D}),
               tables.input(GetParam(), view(positions, {B, T})));
  EXPECT_EQ(shifted, placed);
}

TEST_P(Rope, HeadsInsideWiderRowsAreRotatedAndTheRestIsLeft) {
  test::Rig rig;
  Tables tables(rig.ctx);
  std::vector<float> packed(B * T * (H + 1) * D, 7.0f), alone = heads();
  for (int64_t n = 0; n < B * T; ++n)
    std::copy_n(alone.begin() + n * H * D, H * D, packed.begin() + n * (H + 1) * D);
  const Tensor rows = view(packed, {B, T, (H + 1) * D}).slice(2, 0, H * D).split(2, H, D);
  rope_forward(rig.ctx, rows, tables.input(GetParam()));
  rope_forward(rig.ctx, view(alone, {B, T, H, D}), tables.input(GetParam()));
  for (int64_t n = 0; n < B * T; ++n)
    for (int64_t i = 0; i < (H + 1) * D; ++i)
      EXPECT_EQ(packed[static_cast<size_t>(n * (H + 1) * D + i)],
                i < H * D ? alone[static_cast<size_t>(n * H * D + i)] : 7.0f);
}

TEST_P(Rope, PositionBeyondTheTableIsADataError) {
  test::Rig rig;
  Tables tables(rig.ctx);
  std::vector<float> x = heads();
  std::vector<int32_t> positions = {0, 1, 2, 3, kContext, 5};
  auto code = [&](auto&& call) {
    try {
      call();
    } catch (const Error& error) {
      return error.code();
    }
    return ErrorCode::Internal;
  };
  const Tensor t = view(x, {B, T, H, D});
  EXPECT_EQ(code([&] {
              rope_forward(rig.ctx, t, tables.input(GetParam(), view(positions, {B, T})));
            }),
            ErrorCode::Data);
  EXPECT_EQ(code([&] { rope_forward(rig.ctx, t, tables.input(GetParam(), {}, kContext - T + 1)); }),
            ErrorCode::Data);
  EXPECT_EQ(x, heads());
}

INSTANTIATE_TEST_SUITE_P(Pairs, Rope,
                         ::testing::Values(RopePairs::HalfSplit, RopePairs::Interleaved),
                         [](const auto& test) {
                           return test.param == RopePairs::HalfSplit ? "half" : "interleaved";
                         });

// Llama 3.2's published setting (theta 500,000, factor 32, 1, 4, 8,192; D 64), against the three
// branches of the formula worked out by hand.
TEST(RopeTable, Llama3ScalingKeepsShortWavesStretchesLongOnesAndBlendsBetween) {
  constexpr int64_t half = 32;
  std::vector<double> cos(2 * half), sin(2 * half);
  const RopeFrequencies f = {.theta = 500000.0,
                             .stretch = RopeStretch::Llama3,
                             .factor = 32.0,
                             .low_freq_factor = 1.0,
                             .high_freq_factor = 4.0,
                             .original_context = 8192};
  test::Rig rig;
  rope_table(rig.ctx, f, view(cos, {2, half}), view(sin, {2, half}));
  // Row 1 holds cos and sin of the frequency itself.
  auto frequency = [&](int64_t i) {
    return std::atan2(sin[static_cast<size_t>(half + i)], cos[static_cast<size_t>(half + i)]);
  };
  auto plain = [&](double i) { return std::pow(500000.0, -i / half); };
  EXPECT_NEAR(frequency(0), 1.0, 1e-12);
  EXPECT_NEAR(frequency(14), plain(14), 1e-15);          // 1,956 tokens long: below 8,192 / 4
  EXPECT_NEAR(frequency(31), plain(31) / 32.0, 1e-15);   // far above 8,192
  const double wave = 2 * std::numbers::pi / plain(16);  // 4,443 tokens: between
  const double smooth = (8192.0 / wave - 1.0) / 3.0;
  EXPECT_NEAR(frequency(16), (1.0 - smooth) * plain(16) / 32.0 + smooth * plain(16), 1e-15);
}

}  // namespace
}  // namespace ingot
