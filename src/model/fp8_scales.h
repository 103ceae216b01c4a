// The scales of a run's 8-bit tensors: the model reads them, each step renews them (docs/fp8.md).
#pragma once

#include <span>
#include <vector>

#include "core/context.h"
#include "spec/placed_tensors.h"

namespace ingot {

class Fp8Scales {
 public:
  // `placed` holds the rows of a table under fp8; it and ctx must outlive this.
  Fp8Scales(Context& ctx, const PlacedTensors& placed) : ctx_(ctx), placed_(placed) {}

  // Guesses to start a run with, for gradients of `scale` · Σ token losses.
  void init(double scale);
  // After the micro-steps of a step: the scales that the next one uses.
  void update();

  // Between steps: what a run needs to go on bit for bit. restore() throws ErrorCode::Data when
  // `saved` is of another model.
  std::vector<float> save() const;
  void restore(std::span<const float> saved);

 private:
  Context& ctx_;
  const PlacedTensors& placed_;
};

}  // namespace ingot
