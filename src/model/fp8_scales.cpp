#include "model/fp8_scales.h"

#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/error/error.h"
#include "core/json/json_problem.h"
#include "model/operand.h"
#include "ops/memory.h"

namespace ingot {
namespace {

constexpr std::array kDelayed = {"activations", "gradients"};  // weights find their own each step
constexpr std::array kSaved = {"history", "scale"};            // maxima are 0 between steps

Tensor row_of(const PlacedTensors& placed, const char* what, const char* field) {
  return placed.find(fmt::format("fp8.{}.{}", what, field));
}

}  // namespace

void Fp8Scales::init(double scale) {
  // Inputs of GEMMs are mostly within ±10 in a fresh model, gradients within a few powers of ten of
  // their share of the loss. Both have room for about 50 times as much before they saturate, for
  // one step.
  const std::pair<const char*, int> exponents[] = {{"activations", 3},
                                                   {"gradients", 8 - std::ilogb(scale)}};
  fill(ctx_, 0.0f, fp8_maxima(placed_));
  for (const auto& [what, exponent] : exponents) {
    fill(ctx_, 0.0f, row_of(placed_, what, "history"));
    fill(ctx_, std::ldexp(1.0f, exponent), row_of(placed_, what, "scale"));
    fill(ctx_, std::ldexp(1.0f, -exponent), row_of(placed_, what, "inverse"));
  }
}

void Fp8Scales::update(const UpdateScalars& scalars) {
  if (ranks_.size() > 1) {
    // Maxima are not negative, so they are in order as whole numbers too, NaN above all others.
    Tensor bits = fp8_maxima(placed_);
    bits.dtype = DType::I32;
    lane_->after(ranks_.all_reduce(bits, Reduce::Max, lane_->mark("fp8 maxima")));
  }
  update_scales(ctx_, DType::F8E4M3, fp8_scales(placed_, "activations"), scalars);
  update_scales(ctx_, DType::F8E5M2, fp8_scales(placed_, "gradients"), scalars);
}

std::string Fp8Scales::save() const {
  return nlohmann::json(read()).dump();
}

void Fp8Scales::load(std::string_view saved) {
  try {
    restore(nlohmann::json::parse(saved).get<std::vector<float>>());
  } catch (const nlohmann::json::exception& error) {
    throw Error(ErrorCode::Data,
                fmt::format("the checkpoint's fp8 scales: {}", json_problem(error)));
  }
}

std::vector<float> Fp8Scales::read() const {
  std::vector<float> saved;
  for (const char* what : kDelayed)
    for (const char* field : kSaved) {
      const Tensor row = row_of(placed_, what, field);
      const size_t begin = saved.size();
      saved.resize(begin + static_cast<size_t>(row.numel()));
      copy_to_host(ctx_, row, saved.data() + begin);
    }
  return saved;
}

void Fp8Scales::restore(const std::vector<float>& saved) {
  int64_t expected = 0;
  for (const char* what : kDelayed)
    for (const char* field : kSaved) expected += row_of(placed_, what, field).numel();
  check(static_cast<int64_t>(saved.size()) == expected, ErrorCode::Data,
        "the checkpoint's fp8 scales are {} numbers, this model has {}", saved.size(), expected);
  const float* from = saved.data();
  for (const char* what : kDelayed) {
    for (const char* field : kSaved) {
      const Tensor row = row_of(placed_, what, field);
      copy_from_host(ctx_, from, row);
      from += row.numel();
    }
    const Tensor inverse = row_of(placed_, what, "inverse");  // the scale's row was the last
    std::vector<float> values(from - inverse.numel(), from);
    for (float& value : values) value = 1.0f / value;
    copy_from_host(ctx_, values.data(), inverse);
  }
  fill(ctx_, 0.0f, fp8_maxima(placed_));
}

}  // namespace ingot
