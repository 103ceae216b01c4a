// The scales of a run's 8-bit tensors: the model reads them, each step renews them (docs/fp8.md).
#pragma once

#include <vector>

#include "core/context.h"
#include "core/state_section.h"
#include "spec/placed_tensors.h"

namespace ingot {

class Fp8Scales final : public StateSection {
 public:
  // `placed` holds the rows of a table under fp8; it and ctx must outlive this.
  Fp8Scales(Context& ctx, const PlacedTensors& placed) : ctx_(ctx), placed_(placed) {}

  // Guesses to start a run with, for gradients of `scale` · Σ token losses.
  void init(double scale);
  // After the micro-steps of a step: the scales that the next one uses.
  void update();

  std::string_view name() const override { return "fp8_scales"; }
  std::string save() const override;  // a list of numbers: histories and scales
  void load(std::string_view saved) override;

 private:
  std::vector<float> read() const;
  void restore(const std::vector<float>& saved);

  Context& ctx_;
  const PlacedTensors& placed_;
};

}  // namespace ingot
