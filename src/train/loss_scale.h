// The loss scale of a run in fp16, whose gradients would otherwise fall below its smallest number.
// It finds its own size: doubled after many steps without overflow, halved at each one with.
#pragma once

#include "checkpoint/checkpoint.h"

namespace ingot {

class LossScale {
 public:
  explicit LossScale(const LossScaleState& state = {}) : state_(state) {}

  double value() const { return state_.scale; }  // a power of two: nothing is rounded by it
  const LossScaleState& state() const { return state_; }

  // After each step; `overflowed`: its gradients were not finite and nothing was updated. Throws
  // ErrorCode::Numeric (radius run) when halving would leave less than 1: what overflows then is
  // not for a scale to mend.
  void after_step(bool overflowed);

 private:
  LossScaleState state_;
};

}  // namespace ingot
