// The loss scale of a run in fp16, whose gradients would otherwise fall below its smallest number.
// It finds its own size: doubled after many steps without overflow, halved at each one with.
#pragma once

#include <cstdint>

#include "core/storage/state_section.h"

namespace ingot {

struct LossScaleState {
  double scale = 65536.0;
  int64_t good_steps = 0;     // since the scale last changed
  int64_t skipped_steps = 0;  // of the whole run: steps that updated nothing
  bool operator==(const LossScaleState&) const = default;
};

class LossScale final : public StateSection {
 public:
  explicit LossScale(const LossScaleState& state = {}) : state_(state) {}

  std::string_view name() const override { return "loss_scale"; }
  std::string save() const override;
  void load(std::string_view saved) override;

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
