// llama3 scaling of rotary frequencies, which GGUF says by its divisors.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "checkpoint/exchange/gguf/model.h"

namespace ingot {
namespace {

double wavelength_of(const ModelConfig& m, int64_t pair) {
  return 2.0 * std::numbers::pi *
         std::pow(m.rope.theta, 2.0 * static_cast<double>(pair) / static_cast<double>(m.head_dim));
}

bool gives(const ModelConfig& model, const std::vector<float>& divisors) {
  return std::ranges::equal(gguf_rope_divisors(model), divisors, [](float a, float b) {
    return std::abs(a / b - 1.0f) < 1e-6f;  // other programs compute them in 32 bits
  });
}

// Between the two thresholds 1/divisor is a line over 1/wavelength: two points of it say where they
// are, but for a common factor of all three settings. False: there are no two.
bool fit(ModelConfig& m, const std::vector<float>& divisors) {
  std::vector<std::pair<double, double>> line;
  const double floor = 1.0 / m.rope.factor;
  for (size_t i = 0; i < divisors.size(); ++i)
    if (divisors[i] > 1.0f && divisors[i] < static_cast<float>(m.rope.factor))
      line.emplace_back(1.0 / wavelength_of(m, static_cast<int64_t>(i)),
                        (1.0 / static_cast<double>(divisors[i]) - floor) / (1.0 - floor));
  if (line.size() < 2) return false;
  const auto [x, s] = line.front();
  const double slope = (line.back().second - s) / (line.back().first - x), below = slope * x - s;
  const double original = slope / below;
  constexpr double kLongest = 1 << 20;
  if (!(below > 0 && original >= 1 && original <= kLongest)) return false;
  m.rope.high_freq_factor = std::round((1.0 + 1.0 / below) * 1000.0) / 1000.0;
  m.rope.original_context = std::llround(original);
  return true;
}

}  // namespace

std::vector<float> gguf_rope_divisors(const ModelConfig& m) {
  const RopeConfig& r = m.rope;
  if (m.positions != Positions::Rotary || r.scaling != RopeScaling::Llama3) return {};
  std::vector<float> divisors;
  for (int64_t i = 0; i < m.head_dim / 2; ++i) {
    const double wavelength = wavelength_of(m, i);
    const auto original = static_cast<double>(r.original_context);
    double divisor = 1.0;
    if (wavelength > original / r.low_freq_factor) {
      divisor = r.factor;
    } else if (wavelength >= original / r.high_freq_factor) {
      const double smooth =
          (original / wavelength - r.low_freq_factor) / (r.high_freq_factor - r.low_freq_factor);
      divisor = 1.0 / ((1.0 - smooth) / r.factor + smooth);
    }
    divisors.push_back(static_cast<float>(divisor));
  }
  return divisors;
}

bool set_rope_divisors(ModelConfig& model, const std::vector<float>& divisors) {
  const bool sound = static_cast<int64_t>(divisors.size()) == model.head_dim / 2 &&
                     std::ranges::all_of(divisors, [](float d) { return d >= 1.0f && d < 1e6f; });
  if (!sound) return false;
  RopeConfig& rope = model.rope;
  const RopeConfig unscaled = rope;
  if (std::ranges::all_of(divisors, [](float d) { return d == 1.0f; })) return true;
  rope.scaling = RopeScaling::Llama3;
  rope.factor = static_cast<double>(std::ranges::max(divisors));
  const RopeConfig published = rope;  // Llama 3.1's thresholds and context
  if (gives(model, divisors)) return true;
  for (rope.original_context = 8; rope.original_context <= 1 << 20; rope.original_context *= 2)
    if (gives(model, divisors)) return true;
  rope = published;
  if (fit(model, divisors) && gives(model, divisors)) return true;
  rope = unscaled;
  return false;
}

}  // namespace ingot
