#include "train/loss_scale.h"

#include "core/error.h"

namespace ingot {
namespace {

constexpr int64_t kStepsToDouble = 2000;  // as in torch.amp.GradScaler: 0.05 % of steps lost

}  // namespace

void LossScale::after_step(bool overflowed) {
  if (overflowed) {
    if (state_.scale / 2 < 1)
      throw Error(ErrorCode::Numeric,
                  fmt::format("fp16: gradients are not finite even at a loss scale of {}, after {} "
                              "skipped steps; lower optim.lr or use train.precision=bf16",
                              state_.scale, state_.skipped_steps));
    state_.scale /= 2;
    state_.good_steps = 0;
    ++state_.skipped_steps;
  } else if (++state_.good_steps == kStepsToDouble) {
    state_.scale *= 2;
    state_.good_steps = 0;
  }
}

}  // namespace ingot
