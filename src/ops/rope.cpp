#include "ops/rope.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "ops/common/checks.h"
#include "ops/common/dispatch.h"
#include "ops/common/rope_checks.h"
#include "ops/kernels/rope.h"
#include "ops/memory.h"

namespace ingot {
namespace {

// Llama3: long waves are stretched, short ones kept, those between blended linearly in
// 1/wavelength.
double llama3_frequency(const RopeFrequencies& f, double plain) {
  const double wavelength = 2.0 * std::numbers::pi / plain;
  const auto context = static_cast<double>(f.original_context);
  if (wavelength < context / f.high_freq_factor) return plain;
  if (wavelength > context / f.low_freq_factor) return plain / f.factor;
  const double smooth =
      (context / wavelength - f.low_freq_factor) / (f.high_freq_factor - f.low_freq_factor);
  return (1.0 - smooth) * plain / f.factor + smooth * plain;
}

// Yarn: the same, blended linearly in the number of the pair.
double yarn_frequency(const RopeFrequencies& f, double plain, int64_t i, int64_t half) {
  const auto pair_that_turns = [&](double turns) {
    const double length =
        static_cast<double>(f.original_context) / (turns * 2.0 * std::numbers::pi);
    return static_cast<double>(half) * std::log(length) / std::log(f.theta);
  };
  const double low = std::max(0.0, std::floor(pair_that_turns(f.beta_fast)));
  double high =
      std::min(static_cast<double>(2 * half - 1), std::ceil(pair_that_turns(f.beta_slow)));
  if (high == low) high += 0.001;
  const double stretched = std::clamp((static_cast<double>(i) - low) / (high - low), 0.0, 1.0);
  return plain / f.factor * stretched + plain * (1.0 - stretched);
}

// Angle per position of pair i of D/2, in a sequence of `length` tokens.
double frequency(const RopeFrequencies& f, int64_t i, int64_t half, int64_t length) {
  double theta = f.theta;
  if (f.stretch == RopeStretch::Dynamic && length > f.original_context) {
    const auto width = static_cast<double>(2 * half);
    const double reach =
        f.factor * static_cast<double>(length) / static_cast<double>(f.original_context) -
        (f.factor - 1.0);
    theta *= std::pow(reach, width / (width - 2.0));
  }
  const double plain = std::pow(theta, -static_cast<double>(i) / static_cast<double>(half));
  switch (f.stretch) {
    case RopeStretch::None:
    case RopeStretch::Dynamic:
      return plain;
    case RopeStretch::Linear:
      return plain / f.factor;
    case RopeStretch::Yarn:
      return yarn_frequency(f, plain, i, half);
    case RopeStretch::Llama3:
      return llama3_frequency(f, plain);
  }
  throw Error(ErrorCode::Internal, "unknown kind of rotary frequencies");
}

// What every cosine and sine is multiplied by.
double amplitude(const RopeFrequencies& f) {
  if (f.stretch != RopeStretch::Yarn) return 1.0;
  return f.attention_factor > 0.0 ? f.attention_factor : 0.1 * std::log(f.factor) + 1.0;
}

void rotate(const char* op, Context& ctx, const Tensor& x, const RopeInput& input,
            cpu::Rotation rotation) {
  check_rotation(op, x, input);
  INGOT_DISPATCH(x, rope, ctx, x, input, rotation);
}

}  // namespace

void rope_table(Context& ctx, const RopeFrequencies& frequencies, const Tensor& cos,
                const Tensor& sin, int64_t first_position) {
  check_rank("rope_table", "cos", cos, 2);
  check_shape("rope_table", "sin", sin, cos.shape);
  check_contiguous("rope_table", "cos", cos);
  check_contiguous("rope_table", "sin", sin);
  check_dtype("rope_table", "sin", sin, cos.dtype);
  const int64_t context = cos.shape[0], half = cos.shape[1];
  const double scale = amplitude(frequencies);
  auto fill = [&]<class A>(std::vector<A> c, std::vector<A> s) {
    for (int64_t i = 0; i < half; ++i) {
      const double per_position = frequency(frequencies, i, half, first_position + context);
      for (int64_t t = 0; t < context; ++t) {
        const double angle = static_cast<double>(first_position + t) * per_position;
        const auto index = static_cast<size_t>(t * half + i);
        c[index] = static_cast<A>(scale * std::cos(angle));
        s[index] = static_cast<A>(scale * std::sin(angle));
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
