// The loss scale of an fp16 run, whose gradients would otherwise fall below the smallest number of
// fp16. It adapts: it doubles after many steps without overflow and halves at each overflow.
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

  // Call it after each step. `overflowed`: its gradients were not finite and nothing was updated.
  // Throws ErrorCode::Numeric (radius run) when halving would leave less than 1, since no scale can
  // help then.
  void after_step(bool overflowed);

 private:
  LossScaleState state_;
};

}  // namespace ingot
