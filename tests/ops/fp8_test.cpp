#include "ops/fp8.h"

#include <limits>

#include "core/device/thread_pool.h"
#include "core/error/error.h"
#include "fp8_promises.h"
#include "support/forced_isa.h"

namespace ingot::test {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr DType kInputs[] = {DType::F32, DType::BF16};
constexpr DType kNarrow[] = {DType::F8E4M3, DType::F8E5M2};

Context host() {
  static ThreadPool two(2);
  Context ctx;
  ctx.pool = &two;
  return ctx;
}

uint8_t code_of(DType dtype, float value) {
  return dtype == DType::F8E5M2 ? F8E5M2::from_float(value).bits : F8E4M3::from_float(value).bits;
}

// Every number of the format, the middle between neighbours and the floats beside it, and what is
// beyond the limit.
std::vector<float> interesting_values(DType dtype) {
  std::vector<float> values = {0.0f, -0.0f, 1e-30f, 1e30f, kInfinity};
  const float limit = fp8_limit(dtype);
  for (float value = std::numeric_limits<float>::min(); value < 2 * limit; value *= 2)
    values.push_back(1.1f * value);
  std::vector<float> numbers;
  for (int code = 0; code < 128; ++code) {
    const auto number = static_cast<float>(value_of(dtype, static_cast<uint8_t>(code)));
    if (std::isfinite(number)) numbers.push_back(number);
  }
  for (size_t i = 0; i + 1 < numbers.size(); ++i) {
    const float middle = (numbers[i] + numbers[i + 1]) / 2;
    for (const float value :
         {numbers[i], std::nextafter(middle, 0.0f), middle, std::nextafter(middle, kInfinity)})
      values.push_back(value);
  }
  values.push_back(limit);
  const size_t count = values.size();
  for (size_t i = 0; i < count; ++i) values.push_back(-values[i]);
  return values;
}

template <class F>
void for_dtypes(const F& f) {
  for (DType input : kInputs) {
    for (DType narrow : kNarrow) {
      SCOPED_TRACE(std::string(name_of(input)) + " to " + std::string(name_of(narrow)));
      f(input, narrow);
    }
  }
}

TEST(Fp8, QuantizeRoundsAsTheTypeDoesAndSaturates) {
  constexpr int64_t N = 144, C = 80;  // three chunks of rows, every value several times
  for_dtypes([&](DType input, DType narrow) {
    for (float scale : {1.0f, 0.125f, 1024.0f}) {
      Fp8Rig rig(host(), input, N, C);
      std::vector<float> values = interesting_values(narrow);
      for (float& value : values) value /= scale;
      const Tensor x = rig.tensor(input, {N, C}, values);
      const Quantized q = rig.quantized(narrow, N, C, Orders::Both, scale);
      quantize(rig.ctx, x, q);
      const std::vector<uint8_t> rows = rig.bytes(q.rows);
      const float limit = fp8_limit(narrow);
      for (size_t i = 0; i < rows.size(); ++i) {
        const float value = input == DType::BF16 ? x.as<Bf16>()[i].to_float() : x.as<float>()[i];
        const float bounded = std::clamp(value * scale, -limit, limit);
        ASSERT_EQ(rows[i], code_of(narrow, bounded)) << value << " times " << scale;
      }
      EXPECT_EQ(rig.number(q.amax), kInfinity);
      EXPECT_EQ(rig.damage(), "");
    }
  });
}

TEST(Fp8, TransposedIsTheTransposeOfRowsAndEitherComesAlone) {
  constexpr int64_t N = 144, C = 48;
  for_dtypes([&](DType input, DType narrow) {
    Fp8Rig rig(host(), input, N, C);
    const Tensor x = rig.random(input, {N, C});
    const Quantized both = rig.quantized(narrow, N, C, Orders::Both, 4.0f);
    quantize(rig.ctx, x, both);
    const std::vector<uint8_t> rows = rig.bytes(both.rows), transposed = rig.bytes(both.transposed);
    for (int64_t n = 0; n < N; ++n)
      for (int64_t c = 0; c < C; ++c)
        ASSERT_EQ(rows[static_cast<size_t>(n * C + c)], transposed[static_cast<size_t>(c * N + n)]);
    for (Orders orders : {Orders::Rows, Orders::Transposed}) {
      const Quantized one = rig.quantized(narrow, N, C, orders, 4.0f);
      quantize(rig.ctx, x, one);
      if (orders == Orders::Rows) expect_equal(rig, one.rows, both.rows, "rows");
      if (orders == Orders::Transposed)
        expect_equal(rig, one.transposed, both.transposed, "transposed");
      expect_equal(rig, one.amax, both.amax, "amax");
    }
    EXPECT_EQ(rig.damage(), "");
  });
}

TEST(Fp8, RowsMayBeStrided) {
  constexpr int64_t N = 32, C = 48;
  for_dtypes([&](DType input, DType narrow) {
    Fp8Rig rig(host(), input, N, C);
    const Tensor x = rig.random(input, {N, C + 5}).slice(1, 2, C + 2);
    const Tensor dense = rig.copy_of(x);
    const Quantized got = rig.quantized(narrow, N, C, Orders::Both, 4.0f);
    const Quantized want = rig.quantized(narrow, N, C, Orders::Both, 4.0f);
    quantize(rig.ctx, x, got);
    quantize(rig.ctx, dense, want);
    expect_equal(rig, got, want, "strided");
  });
}

TEST(Fp8, AmaxIsRaisedNeverLoweredAndOptional) {
  Fp8Rig rig(host(), DType::F32, 16, 16);
  std::vector<float> values(256, 0.25f);
  values[100] = -3.5f;
  const Tensor x = rig.tensor(DType::F32, {16, 16}, values);
  Quantized q = rig.quantized(kActivations, 16, 16, Orders::Rows, 1.0f, 1.0f);
  quantize(rig.ctx, x, q);
  EXPECT_EQ(rig.number(q.amax), 3.5f);
  q = rig.quantized(kActivations, 16, 16, Orders::Rows, 1.0f, 4.0f);
  quantize(rig.ctx, x, q);
  EXPECT_EQ(rig.number(q.amax), 4.0f);
  q.amax = {};
  quantize(rig.ctx, x, q);
}

TEST(Fp8, NanStaysNanAndShowsInAmax) {
  for_dtypes([&](DType input, DType narrow) {
    Fp8Rig rig(host(), input, 16, 16);
    std::vector<float> values(256, 2.0f);
    values[17] = kNan;
    values[18] = -kNan;
    values[19] = kInfinity;
    const Tensor x = rig.tensor(input, {16, 16}, values);
    const Quantized q = rig.quantized(narrow, 16, 16, Orders::Rows, 1.0f);
    quantize(rig.ctx, x, q);
    const std::vector<uint8_t> rows = rig.bytes(q.rows);
    for (size_t i = 0; i < rows.size(); ++i)
      EXPECT_EQ(std::isnan(value_of(narrow, rows[i])), i == 17 || i == 18) << i;
    EXPECT_EQ(value_of(narrow, rows[19]), fp8_limit(narrow));
    EXPECT_TRUE(std::isnan(rig.number(q.amax)));
  });
}

TEST(Fp8, AnEmptyMatrixIsNothingToDo) {
  Fp8Rig rig(host(), DType::F32, 0, 16);
  const Quantized q = rig.quantized(kActivations, 0, 16, Orders::Both, 1.0f);
  quantize_by_own_scale(rig.ctx, rig.tensor(DType::F32, {0, 16}, {0.0f}), q);
  EXPECT_EQ(rig.number(q.scale), 1.0f);
  EXPECT_EQ(rig.damage(), "");
}

// The scale of a matrix whose largest magnitude is `amax`.
float own_scale(DType narrow, float amax) {
  Fp8Rig rig(host(), DType::F32, 16, 32);
  std::vector<float> values(512, amax / 3);
  values[77] = -amax;
  const Quantized q = rig.quantized(narrow, 16, 32, Orders::Both, 3.0f, 1e30f);
  quantize_by_own_scale(rig.ctx, rig.tensor(DType::F32, {16, 32}, values), q);
  const float scale = rig.number(q.scale);
  EXPECT_EQ(rig.number(q.inverse), 1.0f / scale);
  if (std::isnan(amax)) {
    EXPECT_TRUE(std::isnan(rig.number(q.amax)));
  } else {
    EXPECT_EQ(rig.number(q.amax), amax);
  }
  return scale;
}

TEST(Fp8, OwnScaleIsTheLargestPowerOfTwoThatFits) {
  for (DType narrow : kNarrow) {
    SCOPED_TRACE(name_of(narrow));
    const float limit = fp8_limit(narrow);
    for (int power = -60; power <= 60; ++power) {
      const float step = std::ldexp(1.0f, power);
      EXPECT_EQ(own_scale(narrow, limit * step), 1.0f / step);  // exactly the limit
      EXPECT_EQ(own_scale(narrow, std::nextafter(limit, kInfinity) * step), 0.5f / step);
      const float exact = std::ldexp(1.0f, std::ilogb(limit));
      EXPECT_EQ(own_scale(narrow, step), exact / step);  // a power of two
    }
  }
}

TEST(Fp8, OwnScaleOfWhatSaysNothingIsOne) {
  for (DType narrow : kNarrow)
    for (float amax : {0.0f, kInfinity, kNan}) EXPECT_EQ(own_scale(narrow, amax), 1.0f) << amax;
}

TEST(Fp8, OwnScaleAndItsInverseAreNormalNumbersAtBothEnds) {
  for (DType narrow : kNarrow) {
    EXPECT_EQ(own_scale(narrow, std::numeric_limits<float>::min()), 0x1p126f);
    const float smallest = own_scale(narrow, std::numeric_limits<float>::max());
    EXPECT_GE(smallest, std::numeric_limits<float>::min());
    EXPECT_LE(smallest * std::numeric_limits<float>::max(), fp8_limit(narrow));
  }
}

TEST(Fp8, OwnScaleRoundsAsQuantizeUnderThatScale) {
  constexpr int64_t N = 80, C = 48;
  for_dtypes([&](DType input, DType narrow) {
    Fp8Rig rig(host(), input, N, C);
    const Tensor x = rig.random(input, {N, C});
    const Quantized own = rig.quantized(narrow, N, C, Orders::Both, 1.0f);
    quantize_by_own_scale(rig.ctx, x, own);
    const Quantized given = rig.quantized(narrow, N, C, Orders::Both, rig.number(own.scale));
    quantize(rig.ctx, x, given);
    expect_equal(rig, own, given, "own");
  });
}

TEST(Fp8, ScalesFollowTheHistoryAndForgetWhatLeavesIt) {
  constexpr int64_t H = 3, S = 4;
  Fp8Rig rig(host(), DType::F32, 16, 16);
  const ScaleState state{rig.tensor(DType::F32, {S}, {0.0f}),
                         rig.tensor(DType::F32, {H, S}, {0.0f}),
                         rig.tensor(DType::F32, {S}, {1.0f}), rig.tensor(DType::F32, {S}, {1.0f})};
  const auto step = [&](const std::vector<float>& amax) {
    std::ranges::copy(amax, state.amax.as<float>());
    update_scales(rig.ctx, DType::F8E4M3, state, rig.scalars());
    EXPECT_EQ(rig.values<float>(state.amax), std::vector<float>(S, 0.0f));
    const std::vector<float> scale = rig.values<float>(state.scale);
    for (size_t s = 0; s < S; ++s) EXPECT_EQ(state.inverse.as<float>()[s], 1.0f / scale[s]);
    return scale;
  };
  using Floats = std::vector<float>;
  // Zeros keep a scale, 448 fits as it is, 449 does not, 1 may become 256.
  EXPECT_EQ(step({0.0f, 448.0f, 449.0f, 1.0f}), (Floats{1.0f, 1.0f, 0.5f, 256.0f}));
  // The history holds on; what is not finite does not enter it and changes nothing.
  EXPECT_EQ(step({7.0f, 1.0f, kInfinity, 4.0f}), (Floats{64.0f, 1.0f, 0.5f, 64.0f}));
  EXPECT_EQ(step({0.0f, 1.0f, 1.0f, kNan}), (Floats{64.0f, 1.0f, 0.5f, 64.0f}));
  EXPECT_EQ(rig.values<float>(state.history),
            (Floats{0.0f, 1.0f, 1.0f, 0.0f, 7.0f, 1.0f, 0.0f, 4.0f, 0.0f, 448.0f, 449.0f, 1.0f}));
  // The first step leaves: 448 and 449 are forgotten.
  EXPECT_EQ(step({0.0f, 2.0f, 3.5f, 1.0f}), (Floats{64.0f, 128.0f, 128.0f, 64.0f}));
  // All of the first tensor's history is zero from here on: its scale stays.
  EXPECT_EQ(step({0.0f, 0.0f, 0.0f, kInfinity}), (Floats{64.0f, 128.0f, 128.0f, 64.0f}));
  // The fourth kept its scale while it met what is not finite, though its 4 had left.
  EXPECT_EQ(step({0.0f, 0.0f, 0.0f, 0.0f}), (Floats{64.0f, 128.0f, 128.0f, 256.0f}));
  EXPECT_EQ(rig.damage(), "");
}

TEST(Fp8, ScalesOfAHistoryOfOneAreTheLastSteps) {
  Fp8Rig rig(host(), DType::F32, 16, 16);
  const ScaleState state{rig.tensor(DType::F32, {1}, {57344.0f}),
                         rig.tensor(DType::F32, {1, 1}, {0}), rig.tensor(DType::F32, {1}, {1.0f}),
                         rig.tensor(DType::F32, {1}, {1.0f})};
  update_scales(rig.ctx, DType::F8E5M2, state, rig.scalars());
  EXPECT_EQ(rig.number(state.scale), 1.0f);
  *state.amax.as<float>() = 1.0f;
  update_scales(rig.ctx, DType::F8E5M2, state, rig.scalars());
  EXPECT_EQ(rig.number(state.scale), 32768.0f);
}

TEST(Fp8, AStepThatWasSkippedLeavesScalesAndHistory) {
  Fp8Rig rig(host(), DType::F32, 16, 16);
  const ScaleState state{
      rig.tensor(DType::F32, {2}, {3.0f, kNan}), rig.tensor(DType::F32, {2, 2}, {7.0f, 0, 1.0f, 2}),
      rig.tensor(DType::F32, {2}, {4.0f, 8.0f}), rig.tensor(DType::F32, {2}, {0.25f, 0.125f})};
  update_scales(rig.ctx, DType::F8E4M3, state, rig.scalars(/*skipped=*/true));
  EXPECT_EQ(rig.values<float>(state.amax), std::vector<float>(2, 0.0f));
  EXPECT_EQ(rig.values<float>(state.history), (std::vector<float>{7.0f, 0, 1.0f, 2}));
  EXPECT_EQ(rig.values<float>(state.scale), (std::vector<float>{4.0f, 8.0f}));
  EXPECT_EQ(rig.values<float>(state.inverse), (std::vector<float>{0.25f, 0.125f}));
}

template <class F>
void for_shapes(const F& f) {
  constexpr int64_t kShapes[][2] = {{16, 16}, {48, 80}, {144, 272}};
  for (DType dtype : kInputs) {
    for (const auto& [N, C] : kShapes) {
      SCOPED_TRACE(fmt::format("{} ({}, {})", name_of(dtype), N, C));
      f(dtype, N, C);
    }
  }
}

TEST(Fp8, RmsNormForwardIsPlainAndQuantize) {
  for_shapes(
      [](DType dtype, int64_t N, int64_t C) { check_rms_norm_forward(host(), dtype, N, C); });
}

TEST(Fp8, RmsNormBackwardIsPlainAndQuantize) {
  for_shapes([](DType dtype, int64_t N, int64_t C) {
    for (bool accumulate : {false, true}) {
      check_rms_norm_backward(host(), dtype, N, C, accumulate, true, true);
      check_rms_norm_backward(host(), dtype, N, C, accumulate, false, true);
      check_rms_norm_backward(host(), dtype, N, C, accumulate, true, false);
    }
  });
}

TEST(Fp8, ActivationsForwardArePlainAndQuantize) {
  for_shapes([](DType dtype, int64_t N, int64_t F) {
    check_swiglu_forward(host(), dtype, N, F);
    check_relu_squared_forward(host(), dtype, N, F);
  });
}

TEST(Fp8, ActivationsBackwardArePlainAndQuantize) {
  for_shapes([](DType dtype, int64_t N, int64_t F) {
    check_swiglu_backward(host(), dtype, N, F);
    check_relu_squared_backward(host(), dtype, N, F);
  });
}

TEST(Fp8, NanReachesTheAmaxOfEveryOp) {
  for (DType dtype : kInputs) check_nan_reaches_amax(host(), dtype, 48, 80);
}

double float_sum(int64_t K) {
  return static_cast<double>(K + 2) * 0x1p-24;
}

TEST(Fp8, GemmsAgreeWithDoubleOnEveryIsa) {
  for (cpu::Isa isa : runnable_isas()) {
    const ForcedIsa forced(isa);
    SCOPED_TRACE(cpu::name_of(isa));
    for (DType out : kInputs) {
      for (Accumulate accumulate : {Accumulate::No, Accumulate::Yes}) {
        check_gemms(host(), 48, 80, 16, out, accumulate, float_sum, float_sum);
        // Beyond one part of k (256) and of rows (288), and no multiple of a tile.
        check_gemms(host(), 304, 64, 528, out, accumulate, float_sum, float_sum);
      }
    }
  }
}

TEST(Fp8, TheNumberOfThreadsDoesNotChangeABit) {
  constexpr int64_t N = 336, R = 208, C = 288;
  const auto run = [&](int threads) {
    ThreadPool pool(threads);
    Context ctx;
    ctx.pool = &pool;
    Fp8Rig rig(ctx, DType::F32, N, C);
    const Quantized x = rig.quantized(kActivations, N, C, Orders::Both, 1.0f);
    const Quantized w = rig.quantized(kActivations, R, C, Orders::Both, 1.0f);
    quantize_by_own_scale(rig.ctx, rig.random(DType::F32, {N, C}), x);
    quantize(rig.ctx, rig.random(DType::BF16, {R, C}), w);
    const Tensor y = rig.output(DType::F32, {N, R});
    linear_forward(rig.ctx, x, w, y);
    std::vector<uint8_t> all = rig.bytes(y);
    for (const Tensor& part : {x.transposed, x.amax, x.scale, w.rows, w.amax})
      std::ranges::copy(rig.bytes(part), std::back_inserter(all));
    return all;
  };
  const std::vector<uint8_t> one = run(1);
  for (int threads : {2, 3, 7}) EXPECT_EQ(difference(run(threads), one), "") << threads;
}

template <class F>
std::string refusal(const F& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "accepted";
}

#define EXPECT_REFUSAL(call, text) \
  EXPECT_NE(refusal([&] { call; }).find(text), std::string::npos) << refusal([&] { call; })

TEST(Fp8, WhatCannotBeQuantizedIsRefusedByName) {
  Fp8Rig rig(host(), DType::F32, 32, 48);
  Context& ctx = rig.ctx;
  const Tensor x = rig.normal(DType::F32, {32, 48});
  const Quantized good = rig.quantized(kActivations, 32, 48, Orders::Both, 1.0f);
  Quantized bad = rig.quantized(kActivations, 24, 48, Orders::Both, 1.0f);
  EXPECT_REFUSAL(quantize(ctx, rig.normal(DType::F32, {24, 48}), bad),
                 "quantize: the extents of x must be multiples of 16, got f32 (24, 48)");
  EXPECT_REFUSAL(quantize(ctx, rig.normal(DType::F32, {32, 47}), good), "multiples of 16");
  EXPECT_REFUSAL(quantize(ctx, rig.output(DType::F64, {32, 48}), good), "x must be f32 or bf16");
  EXPECT_REFUSAL(quantize(ctx, rig.normal(DType::F32, {32}), good), "x must have 2 dims");
  bad = good;
  bad.transposed = rig.output(kActivations, {32, 48});
  EXPECT_REFUSAL(quantize(ctx, x, bad), "out.transposed must be contiguous f8e4m3 (48, 32)");
  bad = good;
  bad.rows = rig.output(DType::F8E5M2, {32, 48});
  EXPECT_REFUSAL(quantize(ctx, x, bad), "out.transposed must be contiguous f8e5m2");
  bad = good;
  bad.rows = bad.transposed = {};
  EXPECT_REFUSAL(quantize(ctx, x, bad), "got neither");
  bad.rows = rig.output(DType::BF16, {32, 48});
  EXPECT_REFUSAL(quantize(ctx, x, bad), "out must be f8e4m3 or f8e5m2, got bf16");
  bad = good;
  bad.scale = {};
  EXPECT_REFUSAL(quantize(ctx, x, bad), "out.scale must be f32 (1)");
  bad = good;
  bad.amax = {};
  EXPECT_REFUSAL(quantize_by_own_scale(ctx, x, bad), "out.amax must be f32 (1)");
  ScaleState state{rig.output(DType::F32, {3}), rig.output(DType::F32, {2, 3}),
                   rig.output(DType::F32, {3}), rig.output(DType::F32, {2})};
  const UpdateScalars scalars = rig.scalars();
  EXPECT_REFUSAL(update_scales(ctx, kActivations, state, scalars), "inverse must be (3)");
  EXPECT_REFUSAL(update_scales(ctx, DType::BF16, state, scalars),
                 "expected f8e4m3 or f8e5m2, got bf16");
  state.history = rig.output(DType::F32, {0, 3});
  EXPECT_REFUSAL(update_scales(ctx, kActivations, state, scalars), "at least one step");
}

TEST(Fp8, OrdersAndTypesThatAnOpDoesNotMakeAreRefused) {
  Fp8Rig rig(host(), DType::F32, 32, 64);
  Context& ctx = rig.ctx;
  const Tensor x = rig.normal(DType::F32, {32, 64}), weight = rig.normal(DType::F32, {64});
  const Tensor rstd = rig.normal(DType::F32, {32}), dx = rig.copy_of(x);
  const Tensor dweight = rig.copy_of(weight);
  const Quantized both = rig.quantized(kActivations, 32, 64, Orders::Both, 1.0f);
  const Quantized gradient = rig.quantized(kGradients, 32, 64, Orders::Both, 1.0f);
  const Quantized gradient_rows = rig.quantized(kGradients, 32, 64, Orders::Rows, 1.0f);
  const Quantized half = rig.quantized(kActivations, 32, 32, Orders::Transposed, 1.0f);
  EXPECT_REFUSAL(rms_norm_forward(ctx, x, weight, kEps, both, rstd), "y.transposed is not made");
  EXPECT_REFUSAL(rms_norm_forward(ctx, x, weight, kEps, gradient_rows, rstd),
                 "y.rows must be contiguous f8e4m3 (32, 64)");
  EXPECT_REFUSAL(rms_norm_backward(ctx, x, x, weight, rstd, dx, false, dweight, both, gradient),
                 "y.rows is not made");
  EXPECT_REFUSAL(rms_norm_backward(ctx, x, x, weight, rstd, dx, false, dweight, {}, gradient_rows),
                 "dx8.transposed is wanted");
  EXPECT_REFUSAL(rms_norm_backward(ctx, x, x, weight, rstd, x, true, dweight, {}, gradient),
                 "dx must be another buffer than dy");
  EXPECT_REFUSAL(swiglu_forward(ctx, x, half), "out.rows is wanted");
  EXPECT_REFUSAL(swiglu_backward(ctx, dx.slice(1, 0, 32), x, gradient, half),
                 "dout must be contig");
  EXPECT_REFUSAL(relu_squared_backward(ctx, x, x, both, half), "dx.rows must be contiguous f8e5m2");
}

TEST(Fp8, OperandsOfAProductThatDoNotMatchAreRefused) {
  Fp8Rig rig(host(), DType::F32, 32, 64);
  Context& ctx = rig.ctx;
  const Quantized x = rig.quantized(kActivations, 32, 64, Orders::Both, 1.0f);
  const Quantized w = rig.quantized(kActivations, 48, 64, Orders::Both, 1.0f);
  const Quantized dy = rig.quantized(kGradients, 32, 48, Orders::Both, 1.0f);
  const Tensor y = rig.output(DType::F32, {32, 48}), dw = rig.output(DType::F32, {48, 64});
  EXPECT_REFUSAL(linear_forward(ctx, x, x, y), "w.rows must be (48, 64)");
  EXPECT_REFUSAL(linear_forward(ctx, dy, w, y), "x.rows must be f8e4m3");
  EXPECT_REFUSAL(linear_forward(ctx, x, w, rig.output(DType::F64, {32, 48})), "f32 or bf16");
  EXPECT_REFUSAL(linear_forward(ctx, x, w, rig.output(DType::F32, {24, 48})), "multiples of 16");
  EXPECT_REFUSAL(linear_backward_input(ctx, x, w, rig.output(DType::F32, {32, 64}), Accumulate::No),
                 "dy.rows must be f8e5m2");
  EXPECT_REFUSAL(
      linear_backward_weight(ctx, dy, x, rig.output(DType::BF16, {48, 64}), Accumulate::No),
      "dw must be f32");
  Quantized untransposed = x;
  untransposed.transposed = {};
  EXPECT_REFUSAL(linear_backward_weight(ctx, dy, untransposed, dw, Accumulate::No), "x.transposed");
}

}  // namespace
}  // namespace ingot::test
