// 8-bit ops on a GPU: equal to the CPU's where nothing is summed, and to themselves.
#include <limits>

#include "fp8_promises.h"
#include "support/on_gpu.h"

namespace ingot::test {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr DType kInputs[] = {DType::F32, DType::BF16};
constexpr DType kNarrow[] = {DType::F8E4M3, DType::F8E5M2};

class CudaFp8 : public OnGpu<::testing::Test> {
 protected:
  // f(dtype, N, C): tails of every tile, and the widths of training.
  template <class F>
  static void for_shapes(const F& f) {
    constexpr int64_t kShapes[][2] = {{16, 16},     {48, 80},    {1040, 1280},
                                      {4096, 2048}, {512, 4096}, {256, 8192}};
    for (DType dtype : kInputs) {
      for (const auto& [N, C] : kShapes) {
        SCOPED_TRACE(fmt::format("{} ({}, {})", name_of(dtype), N, C));
        f(dtype, N, C);
      }
    }
  }
};

// All bits but those of NaNs, which hardware writes as it likes.
void expect_equal_numbers(const std::vector<uint8_t>& got, const std::vector<uint8_t>& want,
                          DType dtype, const char* name) {
  ASSERT_EQ(got.size(), want.size()) << name;
  const auto is_nan = [&](uint8_t code) { return std::isnan(value_of(dtype, code)); };
  for (size_t i = 0; i < got.size(); ++i)
    if (got[i] != want[i] && !(is_nan(got[i]) && is_nan(want[i])))
      FAIL() << name << ": byte " << i << " is " << int{got[i]} << ", not " << int{want[i]};
}

// x(N, C) of `values`, or normal numbers over many powers of two, through `quantize` on both;
// `pad`: elements between the rows.
template <class F>
void expect_cpu_and_gpu_agree(const Context& cpu, const Context& gpu, DType input, DType narrow,
                              int64_t N, int64_t C, int64_t pad, const std::vector<float>& values,
                              Orders orders, const F& quantize_by) {
  Fp8Rig host(cpu, input, N, C), device(gpu, input, N, C);
  const auto run = [&](Fp8Rig& rig) {
    const Shape shape = {N, C + pad};
    const Tensor x = values.empty() ? rig.random(input, shape) : rig.tensor(input, shape, values);
    const Quantized q = rig.quantized(narrow, N, C, orders, 8.0f);
    quantize_by(rig.ctx, x.slice(1, 0, C), q);
    return q;
  };
  const Quantized want = run(host), got = run(device);
  if (orders != Orders::Transposed)
    expect_equal_numbers(device.bytes(got.rows), host.bytes(want.rows), narrow, "rows");
  if (orders != Orders::Rows)
    expect_equal_numbers(device.bytes(got.transposed), host.bytes(want.transposed), narrow,
                         "transposed");
  const float amax = device.number(got.amax), expected = host.number(want.amax);
  EXPECT_TRUE(amax == expected || (std::isnan(amax) && std::isnan(expected)))
      << "amax is " << amax << ", not " << expected;
  EXPECT_EQ(device.number(got.scale), host.number(want.scale));
  EXPECT_EQ(device.number(got.inverse), host.number(want.inverse));
  EXPECT_EQ(device.damage(), "");
}

TEST_F(CudaFp8, QuantizeEqualsTheCpus) {
  for_shapes([](DType dtype, int64_t N, int64_t C) {
    for (DType narrow : kNarrow)
      expect_cpu_and_gpu_agree(cpu(), gpu(), dtype, narrow, N, C, 0, {}, Orders::Both, quantize);
  });
  for (DType dtype : kInputs) {
    for (DType narrow : kNarrow) {
      for (Orders orders : {Orders::Rows, Orders::Transposed})
        expect_cpu_and_gpu_agree(cpu(), gpu(), dtype, narrow, 208, 336, 0, {}, orders, quantize);
    }
  }
}

TEST_F(CudaFp8, QuantizeOfStridedRowsEqualsTheCpus) {
  for (DType dtype : kInputs) {
    for (DType narrow : kNarrow) {
      for (int64_t pad : {3, 16})  // rows without and with the alignment of vectors
        expect_cpu_and_gpu_agree(cpu(), gpu(), dtype, narrow, 208, 336, pad, {}, Orders::Both,
                                 quantize);
    }
  }
}

TEST_F(CudaFp8, QuantizeRoundsEveryNeighbourhoodAsTheCpu) {
  for (DType narrow : kNarrow) {
    // Between any two numbers of the format: halves, quarters, and one float beside them.
    std::vector<float> values = {kInfinity, 0.0f, 1e-30f, 1e30f};
    float before = 0.0f;
    for (int code = 1; code < 128; ++code) {
      const auto number = static_cast<float>(value_of(narrow, static_cast<uint8_t>(code)));
      if (!std::isfinite(number)) break;
      for (float part : {0.25f, 0.5f, 0.75f, 1.0f}) {
        const float value = before + part * (number - before);
        for (float near : {std::nextafter(value, 0.0f), value, std::nextafter(value, kInfinity)})
          values.push_back(near / 8.0f);  // the scale of the comparison
      }
      before = number;
    }
    for (size_t i = values.size(); i-- > 0;) values.push_back(-values[i]);
    for (DType dtype : kInputs) {
      expect_cpu_and_gpu_agree(cpu(), gpu(), dtype, narrow, 64, 64, 0, values, Orders::Both,
                               quantize);
      values[7] = kNan;
      expect_cpu_and_gpu_agree(cpu(), gpu(), dtype, narrow, 64, 64, 0, values, Orders::Both,
                               quantize);
      values[7] = 1.0f;
    }
  }
}

TEST_F(CudaFp8, OwnScaleEqualsTheCpus) {
  for_shapes([](DType dtype, int64_t N, int64_t C) {
    for (DType narrow : kNarrow)
      expect_cpu_and_gpu_agree(cpu(), gpu(), dtype, narrow, N, C, 0, {}, Orders::Both,
                               quantize_by_own_scale);
  });
  for (DType narrow : kNarrow) {
    const float limit = fp8_limit(narrow);
    for (float amax : {0.0f, 1.0f, 0.375f, limit, std::nextafter(limit, kInfinity),
                       0x1p-100f,  // what is smaller the CPU takes for 0

                       std::numeric_limits<float>::max(), kInfinity, kNan}) {
      SCOPED_TRACE(amax);
      std::vector<float> values(997, amax / 4);
      values[500] = -amax;
      expect_cpu_and_gpu_agree(cpu(), gpu(), DType::F32, narrow, 48, 80, 0, values, Orders::Both,
                               quantize_by_own_scale);
    }
  }
}

TEST_F(CudaFp8, AmaxIsRaisedNeverLoweredAndOptional) {
  Fp8Rig rig(gpu(), DType::F32, 32, 48);
  const Tensor x = rig.tensor(DType::F32, {32, 48}, {0.5f, -2.5f, 1.0f});
  Quantized q = rig.quantized(kActivations, 32, 48, Orders::Both, 1.0f, 1.0f);
  quantize(rig.ctx, x, q);
  EXPECT_EQ(rig.number(q.amax), 2.5f);
  q = rig.quantized(kActivations, 32, 48, Orders::Both, 1.0f, 4.0f);
  quantize(rig.ctx, x, q);
  EXPECT_EQ(rig.number(q.amax), 4.0f);
  q.amax = {};
  quantize(rig.ctx, x, q);
  EXPECT_EQ(rig.damage(), "");
}

TEST_F(CudaFp8, ScalesEqualTheCpusStepByStep) {
  constexpr int64_t S = 301, H = 5;
  const auto make = [&](Fp8Rig& rig) {
    return ScaleState{rig.tensor(DType::F32, {S}, {0.0f}), rig.tensor(DType::F32, {H, S}, {0.0f}),
                      rig.tensor(DType::F32, {S}, {1.0f}), rig.tensor(DType::F32, {S}, {1.0f})};
  };
  for (DType narrow : kNarrow) {
    Fp8Rig host(cpu(), DType::F32, 16, 16), device(gpu(), DType::F32, 16, 16);
    const ScaleState want = make(host), got = make(device);
    std::mt19937 rng(5);
    std::uniform_real_distribution<float> power(-30.0f, 30.0f);
    for (int step = 0; step < 4 * H; ++step) {
      std::vector<float> amax(S);
      for (float& value : amax) value = std::exp2(power(rng));
      for (size_t i = 0; i < S; i += 7) amax[i] = 0.0f;
      for (size_t i = static_cast<size_t>(step); i < S; i += 11) amax[i] = kInfinity;
      for (size_t i = static_cast<size_t>(step); i < S; i += 13) amax[i] = kNan;
      for (size_t i = 0; i < S; i += 17) amax[i] = fp8_limit(narrow);
      copy_from_host(host.ctx, amax.data(), want.amax);
      copy_from_host(device.ctx, amax.data(), got.amax);
      const bool skipped = step % H == 3;
      update_scales(host.ctx, narrow, want, host.scalars(skipped));
      update_scales(device.ctx, narrow, got, device.scalars(skipped));
      for (Tensor ScaleState::*field :
           {&ScaleState::amax, &ScaleState::history, &ScaleState::scale, &ScaleState::inverse})
        ASSERT_EQ(difference(device.bytes(got.*field), host.bytes(want.*field)), "") << step;
    }
    EXPECT_EQ(device.damage(), "");
  }
}

TEST_F(CudaFp8, RmsNormForwardIsPlainAndQuantize) {
  for_shapes([](DType dtype, int64_t N, int64_t C) { check_rms_norm_forward(gpu(), dtype, N, C); });
}

TEST_F(CudaFp8, RmsNormBackwardIsPlainAndQuantize) {
  for_shapes([](DType dtype, int64_t N, int64_t C) {
    // Such rows go to other threads than in the plain kernel, and are summed in another order.
    if (dtype == DType::F32 && C > 4096) return;
    check_rms_norm_backward(gpu(), dtype, N, C, /*accumulate=*/false, true, true);
    check_rms_norm_backward(gpu(), dtype, N, C, /*accumulate=*/true, true, true);
    check_rms_norm_backward(gpu(), dtype, N, C, /*accumulate=*/true, false, true);
    check_rms_norm_backward(gpu(), dtype, N, C, /*accumulate=*/true, true, false);
  });
}

TEST_F(CudaFp8, NanReachesTheAmaxOfEveryOp) {
  for (DType dtype : kInputs) {
    check_nan_reaches_amax(gpu(), dtype, 48, 80);
    check_nan_reaches_amax(gpu(), dtype, 256, 2048);
  }
}

TEST_F(CudaFp8, SwigluIsPlainAndQuantize) {
  for_shapes([](DType dtype, int64_t N, int64_t F) {
    check_swiglu_forward(gpu(), dtype, N, F);
    check_swiglu_backward(gpu(), dtype, N, F);
  });
}

TEST_F(CudaFp8, ReluSquaredIsPlainAndQuantize) {
  for_shapes([](DType dtype, int64_t N, int64_t F) {
    check_relu_squared_forward(gpu(), dtype, N, F);
    check_relu_squared_backward(gpu(), dtype, N, F);
  });
}

// Tensor cores keep some 14 bits of what they add up; the backward's sums move to F32 every 128 k.
double fast_sum(int64_t) {
  return 0x1p-10;
}
double promoted_sum(int64_t) {
  return 0x1p-11;
}

TEST_F(CudaFp8, GemmsAgreeWithDoubleAndRepeatBitForBit) {
  constexpr int64_t kShapes[][3] = {
      {16, 16, 16}, {48, 80, 112}, {1040, 1280, 512}, {256, 512, 4096}, {4096, 272, 1040}};
  for (const auto& [N, R, C] : kShapes) {
    for (DType out : kInputs) {
      for (Accumulate accumulate : {Accumulate::No, Accumulate::Yes}) {
        SCOPED_TRACE(fmt::format("N {} R {} C {} {} {}", N, R, C, name_of(out),
                                 accumulate == Accumulate::Yes ? "added" : "written"));
        check_gemms(gpu(), N, R, C, out, accumulate, fast_sum, promoted_sum);
      }
    }
  }
}

}  // namespace
}  // namespace ingot::test
