#include "ops/rope.h"

#include <cmath>
#include <numbers>
#include <vector>

#include "ops/checks.h"
#include "ops/dispatch.h"
#include "ops/kernels/rope.h"
#include "ops/memory.h"
#include "ops/rope_checks.h"

namespace ingot {
namespace {

// Angle per position of pair i of D/2, as Hugging Face's `rope_type: llama3` scales it: long waves
// are stretched by `factor`, short ones kept, and those between blended linearly in 1/wavelength.
double frequency(const RopeFrequencies& f, int64_t i, int64_t half) {
  const double plain = std::pow(f.theta, -static_cast<double>(i) / static_cast<double>(half));
  if (f.factor == 1.0) return plain;
  const double wavelength = 2.0 * std::numbers::pi / plain;
  const double context = static_cast<double>(f.original_context);
  if (wavelength < context / f.high_freq_factor) return plain;
  if (wavelength > context / f.low_freq_factor) return plain / f.factor;
  const double smooth =
      (context / wavelength - f.low_freq_factor) / (f.high_freq_factor - f.low_freq_factor);
  return (1.0 - smooth) * plain / f.factor + smooth * plain;
}

void rotate(const char* op, Context& ctx, const Tensor& x, const RopeInput& input,
            cpu::Rotation rotation) {
  check_rotation(op, x, input);
  INGOT_DISPATCH(x, rope, ctx, x, input, rotation);
}

}  // namespace

void rope_table(Context& ctx, const RopeFrequencies& frequencies, const Tensor& cos,
                const Tensor& sin) {
  check_rank("rope_table", "cos", cos, 2);
  check_shape("rope_table", "sin", sin, cos.shape);
  check_contiguous("rope_table", "cos", cos);
  check_contiguous("rope_table", "sin", sin);
  check_dtype("rope_table", "sin", sin, cos.dtype);
  const int64_t context = cos.shape[0], half = cos.shape[1];
  auto fill = [&]<class A>(std::vector<A> c, std::vector<A> s) {
    for (int64_t i = 0; i < half; ++i) {
      const double per_position = frequency(frequencies, i, half);
      for (int64_t t = 0; t < context; ++t) {
        const double angle = static_cast<double>(t) * per_position;
        const auto index = static_cast<size_t>(t * half + i);
        c[index] = static_cast<A>(std::cos(angle));
        s[index] = static_cast<A>(std::sin(angle));
      }
    }
    copy_from_host(ctx, c.data(), cos);
    copy_from_host(ctx, s.data(), sin);
  };
  const auto size = static_cast<size_t>(cos.numel());
  if (cos.dtype == DType::F64) {
    fill(std::vector<double>(size), std::vector<double>(size));
  } else {
    check_dtype("rope_table", "cos", cos, DType::F32);
    fill(std::vector<float>(size), std::vector<float>(size));
  }
}

void rope_forward(Context& ctx, const Tensor& x, const RopeInput& rope) {
  rotate("rope_forward", ctx, x, rope, cpu::Rotation::Forward);
}

void rope_backward(Context& ctx, const Tensor& dx, const RopeInput& rope) {
  rotate("rope_backward", ctx, dx, rope, cpu::Rotation::Inverse);
}

}  // namespace ingot
