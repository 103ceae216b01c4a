// What ops/fp8.h promises on every device, as checks that tests on each of them call.
#pragma once

#include "fp8_rig.h"
#include "ops/activation.h"
#include "support/tolerance.h"

namespace ingot::test {

// What plain(N, C) is in 8 bits, by quantize(), under the scale and in the orders of `like`. With
// `untouched` amax stays as it was made.
inline Quantized quantized_like(Fp8Rig& rig, const Tensor& plain, const Quantized& like,
                                bool untouched = false) {
  const Orders orders = !like.rows.defined()         ? Orders::Transposed
                        : !like.transposed.defined() ? Orders::Rows
                                                     : Orders::Both;
  const DType dtype = like.rows.defined() ? like.rows.dtype : like.transposed.dtype;
  Quantized q =
      rig.quantized(dtype, plain.shape[0], plain.shape[1], orders, rig.number(like.scale));
  Quantized target = q;
  if (untouched) target.amax = {};
  quantize(rig.ctx, plain, target);
  return q;
}

inline constexpr double kEps = 1e-5;
inline constexpr float kActivationScale = 16.0f, kGradientScale = 2048.0f;
inline constexpr DType kActivations = DType::F8E4M3, kGradients = DType::F8E5M2;

// ---- fused ops: the op that makes a Quantized gives the bits of the plain one and quantize().

inline void check_rms_norm_forward(const Context& ctx, DType dtype, int64_t N, int64_t C) {
  Fp8Rig rig(ctx, dtype, N, C);
  const Tensor x = rig.random(dtype, {N, C}), weight = rig.random(dtype, {C});
  const Tensor plain = rig.output(dtype, {N, C});
  const Tensor plain_rstd = rig.output(DType::F32, {N}), rstd = rig.output(DType::F32, {N});
  const Quantized y = rig.quantized(kActivations, N, C, Orders::Rows, kActivationScale);
  rms_norm_forward(rig.ctx, x, weight, kEps, plain, plain_rstd);
  rms_norm_forward(rig.ctx, x, weight, kEps, y, rstd);
  expect_equal(rig, y, quantized_like(rig, plain, y), "y");
  expect_equal(rig, rstd, plain_rstd, "rstd");
  EXPECT_EQ(rig.damage(), "");
}

inline void check_rms_norm_backward(const Context& ctx, DType dtype, int64_t N, int64_t C,
                                    bool accumulate, bool with_y, bool with_dx8) {
  Fp8Rig rig(ctx, dtype, N, C);
  const Tensor x = rig.random(dtype, {N, C}), weight = rig.random(dtype, {C});
  const Tensor dy = rig.random(dtype, {N, C}), dx = rig.random(dtype, {N, C});
  const Tensor dweight = rig.random(DType::F32, {C});
  const Tensor plain_dx = rig.copy_of(dx), plain_dweight = rig.copy_of(dweight);
  const Tensor again_dx = rig.copy_of(dx), again_dweight = rig.copy_of(dweight);
  const Tensor plain_y = rig.output(dtype, {N, C}), rstd = rig.output(DType::F32, {N});
  rms_norm_forward(rig.ctx, x, weight, kEps, plain_y, rstd);
  rms_norm_backward(rig.ctx, dy, x, weight, rstd, plain_dx, accumulate, plain_dweight);
  Quantized y, dx8;
  if (with_y) y = rig.quantized(kActivations, N, C, Orders::Transposed, kActivationScale);
  if (with_dx8) dx8 = rig.quantized(kGradients, N, C, Orders::Both, kGradientScale);
  rms_norm_backward(rig.ctx, dy, x, weight, rstd, dx, accumulate, dweight, y, dx8);
  if (with_y) expect_equal(rig, y, quantized_like(rig, plain_y, y, /*untouched=*/true), "y");
  if (with_dx8) expect_equal(rig, dx8, quantized_like(rig, plain_dx, dx8), "dx8");
  expect_equal(rig, dx, plain_dx, "dx");
  // A sum over rows, which the two may add up in different orders.
  const auto doubles = [&](const Tensor& tensor) {
    const std::vector<float> floats = rig.values<float>(tensor);
    return std::vector<double>(floats.begin(), floats.end());
  };
  EXPECT_LE(relative_error(doubles(dweight), doubles(plain_dweight)), tolerance_of(DType::F32));
  rms_norm_backward(rig.ctx, dy, x, weight, rstd, again_dx, accumulate, again_dweight, y, dx8);
  expect_equal(rig, again_dweight, dweight, "dweight the second time");
  EXPECT_EQ(rig.damage(), "");
}

inline void check_swiglu_forward(const Context& ctx, DType dtype, int64_t N, int64_t F) {
  Fp8Rig rig(ctx, dtype, N, 2 * F);
  const Tensor gate_up = rig.random(dtype, {N, 2 * F}), plain = rig.output(dtype, {N, F});
  const Quantized out = rig.quantized(kActivations, N, F, Orders::Rows, kActivationScale);
  swiglu_forward(rig.ctx, gate_up, plain);
  swiglu_forward(rig.ctx, gate_up, out);
  expect_equal(rig, out, quantized_like(rig, plain, out), "out");
  EXPECT_EQ(rig.damage(), "");
}

inline void check_relu_squared_forward(const Context& ctx, DType dtype, int64_t N, int64_t F) {
  Fp8Rig rig(ctx, dtype, N, F);
  const Tensor x = rig.random(dtype, {N, F}), plain = rig.output(dtype, {N, F});
  const Quantized out = rig.quantized(kActivations, N, F, Orders::Rows, kActivationScale);
  relu_squared_forward(rig.ctx, x, plain);
  relu_squared_forward(rig.ctx, x, out);
  expect_equal(rig, out, quantized_like(rig, plain, out), "out");
  EXPECT_EQ(rig.damage(), "");
}

inline void check_swiglu_backward(const Context& ctx, DType dtype, int64_t N, int64_t F) {
  Fp8Rig rig(ctx, dtype, N, 2 * F);
  const Tensor gate_up = rig.random(dtype, {N, 2 * F}), dout = rig.random(dtype, {N, F});
  const Tensor same_gate_up = rig.copy_of(gate_up), same_dout = rig.copy_of(dout);
  const Tensor plain_dgate_up = rig.output(dtype, {N, 2 * F}), plain = rig.output(dtype, {N, F});
  const Quantized dgate_up = rig.quantized(kGradients, N, 2 * F, Orders::Both, kGradientScale);
  const Quantized out = rig.quantized(kActivations, N, F, Orders::Transposed, kActivationScale);
  swiglu_backward(rig.ctx, dout, gate_up, plain_dgate_up, plain);
  swiglu_backward(rig.ctx, dout, gate_up, dgate_up, out);
  expect_equal(rig, dgate_up, quantized_like(rig, plain_dgate_up, dgate_up), "dgate_up");
  expect_equal(rig, out, quantized_like(rig, plain, out, /*untouched=*/true), "out");
  expect_equal(rig, gate_up, same_gate_up, "gate_up");
  expect_equal(rig, dout, same_dout, "dout");
  EXPECT_EQ(rig.damage(), "");
}

inline void check_relu_squared_backward(const Context& ctx, DType dtype, int64_t N, int64_t F) {
  Fp8Rig rig(ctx, dtype, N, F);
  const Tensor x = rig.random(dtype, {N, F}), dout = rig.random(dtype, {N, F});
  const Tensor same_x = rig.copy_of(x), same_dout = rig.copy_of(dout);
  const Tensor plain_dx = rig.output(dtype, {N, F}), plain = rig.output(dtype, {N, F});
  const Quantized dx = rig.quantized(kGradients, N, F, Orders::Both, kGradientScale);
  const Quantized out = rig.quantized(kActivations, N, F, Orders::Transposed, kActivationScale);
  relu_squared_backward(rig.ctx, dout, x, plain_dx, plain);
  relu_squared_backward(rig.ctx, dout, x, dx, out);
  expect_equal(rig, dx, quantized_like(rig, plain_dx, dx), "dx");
  expect_equal(rig, out, quantized_like(rig, plain, out, /*untouched=*/true), "out");
  expect_equal(rig, x, same_x, "x");
  expect_equal(rig, dout, same_dout, "dout");
  EXPECT_EQ(rig.damage(), "");
}

// A NaN among the inputs of an op that makes a Quantized shows in its amax: update_scales() looks
// for it there.
inline void check_nan_reaches_amax(const Context& ctx, DType dtype, int64_t N, int64_t C) {
  Fp8Rig rig(ctx, dtype, N, 2 * C);
  std::vector<float> values(static_cast<size_t>(N * 2 * C), 0.5f);
  values[static_cast<size_t>(N * C / 2 + 3)] = std::nanf("");
  const Tensor spoilt = rig.tensor(dtype, {N, C}, values);
  const Tensor spoilt_wide = rig.tensor(dtype, {N, 2 * C}, values);
  const Tensor x = rig.normal(dtype, {N, C}), wide = rig.normal(dtype, {N, 2 * C});
  const Tensor weight = rig.normal(dtype, {C}), rstd = rig.output(DType::F32, {N});
  const Tensor sum = rig.output(dtype, {N, C}), dweight = rig.normal(DType::F32, {C});
  const Quantized rebuilt = rig.quantized(kActivations, N, C, Orders::Transposed, kActivationScale);
  const auto expect_nan = [&](const char* name, const Quantized& q, auto run) {
    run(q);
    EXPECT_TRUE(std::isnan(rig.number(q.amax))) << name << ": " << rig.number(q.amax);
  };
  const auto activations = [&] {
    return rig.quantized(kActivations, N, C, Orders::Rows, kActivationScale);
  };
  const auto gradients = [&](int64_t width) {
    return rig.quantized(kGradients, N, width, Orders::Both, kGradientScale);
  };
  expect_nan("rms_norm_forward", activations(),
             [&](const Quantized& y) { rms_norm_forward(rig.ctx, spoilt, weight, kEps, y, rstd); });
  rms_norm_forward(rig.ctx, x, weight, kEps, sum, rstd);
  expect_nan("rms_norm_backward", gradients(C), [&](const Quantized& dx8) {
    rms_norm_backward(rig.ctx, spoilt, x, weight, rstd, sum, false, dweight, rebuilt, dx8);
  });
  expect_nan("swiglu_forward", activations(),
             [&](const Quantized& out) { swiglu_forward(rig.ctx, spoilt_wide, out); });
  expect_nan("swiglu_backward", gradients(2 * C), [&](const Quantized& dgate_up) {
    swiglu_backward(rig.ctx, spoilt, wide, dgate_up, rebuilt);
  });
  expect_nan("relu_squared_backward", gradients(C),
             [&](const Quantized& dx) { relu_squared_backward(rig.ctx, spoilt, x, dx, rebuilt); });
}

// ---- products

inline double value_of(DType dtype, uint8_t code) {
  return dtype == DType::F8E5M2 ? F8E5M2{code}.to_float() : F8E4M3{code}.to_float();
}

// The numbers that an order of a Quantized stands for.
inline std::vector<double> dequantized(Fp8Rig& rig, const Tensor& order, const Tensor& inverse) {
  double values[256];
  for (int code = 0; code < 256; ++code)
    values[code] = rig.number(inverse) * value_of(order.dtype, static_cast<uint8_t>(code));
  std::vector<double> numbers;
  for (const uint8_t code : rig.bytes(order)) numbers.push_back(values[code]);
  return numbers;
}

// Largest error of a sum over K, in parts of Σ |a|·|b|.
using SumTolerance = double (*)(int64_t K);

// got(M, N) against before + a(M, K) · b(N, K)ᵀ in double, in at most 8 rows.
inline void expect_gemm(const std::vector<double>& a, const std::vector<double>& b,
                        const std::vector<double>& before, const std::vector<double>& got,
                        int64_t M, int64_t N, double tolerance, DType out) {
  const double rounding = out == DType::BF16 ? 0x1p-8 : 0x1p-23;
  const int64_t K = static_cast<int64_t>(a.size()) / M;
  for (int64_t i = 0; i < M; i += std::max<int64_t>(1, M / 7)) {
    for (int64_t j = 0; j < N; ++j) {
      const auto at = static_cast<size_t>(i * N + j);
      double exact = before[at], magnitude = std::abs(exact);
      const double* a_row = a.data() + i * K;
      const double* b_row = b.data() + j * K;
      for (int64_t k = 0; k < K; ++k) {
        exact += a_row[k] * b_row[k];
        magnitude += std::abs(a_row[k] * b_row[k]);
      }
      // The product may be rounded before it is added.
      const double rounded = std::abs(exact) + std::abs(exact - before[at]);
      ASSERT_NEAR(got[at], exact, tolerance * magnitude + rounding * rounded)
          << "at " << i << ", " << j << " of " << M << ", " << N << ", K " << K;
    }
  }
}

// A result in rows of a wider buffer, as a product with strides has it.
struct PaddedResult {
  static constexpr int64_t kPad = 16;

  PaddedResult(Fp8Rig& rig, DType dtype, int64_t M, int64_t N)
      : whole(rig.normal(dtype, {M, N + kPad})), view(whole.slice(1, 0, N)) {}

  // The columns [begin, end), row by row.
  std::vector<double> columns(Fp8Rig& rig, int64_t begin, int64_t end) const {
    const int64_t width = whole.shape[1];
    std::vector<double> values;
    const auto add = [&](const auto& host, auto to_double) {
      for (size_t i = 0; i < host.size(); ++i) {
        const int64_t column = static_cast<int64_t>(i) % width;
        if (column >= begin && column < end) values.push_back(to_double(host[i]));
      }
    };
    if (whole.dtype == DType::BF16)
      add(rig.values<Bf16>(whole), [](Bf16 v) { return static_cast<double>(v.to_float()); });
    else
      add(rig.values<float>(whole), [](float v) { return static_cast<double>(v); });
    return values;
  }

  Tensor whole, view;  // (M, N + kPad), (M, N)
};

// The three products of y(N, R) = x(N, C) · w(R, C)ᵀ against double, results of dtype `out`; each
// twice, with equal bits.
inline void check_gemms(const Context& ctx, int64_t N, int64_t R, int64_t C, DType out,
                        Accumulate accumulate, SumTolerance forward, SumTolerance backward) {
  Fp8Rig rig(ctx, DType::F32, N, std::max(R, C));
  const auto operand = [&](DType dtype, int64_t rows, int64_t width, float scale) {
    const Quantized q = rig.quantized(dtype, rows, width, Orders::Both, scale);
    quantize(rig.ctx, rig.normal(DType::F32, {rows, width}), q);
    return q;
  };
  const Quantized x = operand(kActivations, N, C, 64.0f), w = operand(kActivations, R, C, 32.0f);
  const Quantized dy = operand(kGradients, N, R, 4096.0f);

  const auto check = [&](const char* name, const Tensor& a, const Tensor& a_inverse,
                         const Tensor& b, const Tensor& b_inverse, DType dtype, int64_t K,
                         SumTolerance tolerance, auto run) {
    SCOPED_TRACE(name);
    const int64_t rows = a.shape[0], cols = b.shape[0];
    const PaddedResult result(rig, dtype, rows, cols);
    std::vector<double> before = result.columns(rig, 0, cols);
    if (accumulate == Accumulate::No) std::ranges::fill(before, 0.0);
    const auto padding = [&] { return result.columns(rig, cols, cols + PaddedResult::kPad); };
    const std::vector<double> padding_before = padding();
    const Tensor again = rig.copy_of(result.whole);
    run(result.view);
    run(again.slice(1, 0, cols));
    expect_gemm(dequantized(rig, a, a_inverse), dequantized(rig, b, b_inverse), before,
                result.columns(rig, 0, cols), rows, cols, tolerance(K), dtype);
    EXPECT_EQ(padding(), padding_before);
    expect_equal(rig, again, result.whole, "the second time");
  };
  check("forward", x.rows, x.inverse, w.rows, w.inverse, out, C, forward, [&](const Tensor& y) {
    linear_forward(rig.ctx, x, w, y, accumulate == Accumulate::Yes ? y : Tensor{});
  });
  const PaddedResult addend(rig, out, N, R), elsewhere(rig, out, N, R);
  linear_forward(rig.ctx, x, w, elsewhere.view, addend.view);
  expect_gemm(dequantized(rig, x.rows, x.inverse), dequantized(rig, w.rows, w.inverse),
              addend.columns(rig, 0, R), elsewhere.columns(rig, 0, R), N, R, forward(C), out);
  check("backward_input", dy.rows, dy.inverse, w.transposed, w.inverse, out, R, backward,
        [&](const Tensor& dx) { linear_backward_input(rig.ctx, dy, w, dx, accumulate); });
  check("backward_weight", dy.transposed, dy.inverse, x.transposed, x.inverse, DType::F32, N,
        backward,
        [&](const Tensor& dw) { linear_backward_weight(rig.ctx, dy, x, dw, accumulate); });
  EXPECT_EQ(rig.damage(), "");
}

}  // namespace ingot::test
