#include "train/step/loss_scale.h"

#include <nlohmann/json.hpp>

#include "core/error/error.h"
#include "core/json/json_integer.h"
#include "core/json/json_problem.h"

namespace ingot {
namespace {

constexpr int64_t kStepsToDouble = 2000;  // as in torch.amp.GradScaler: 0.05 % of steps lost

}  // namespace

std::string LossScale::save() const {
  return nlohmann::json{{"scale", state_.scale},
                        {"good_steps", state_.good_steps},
                        {"skipped_steps", state_.skipped_steps}}
      .dump();
}

void LossScale::load(std::string_view saved) {
  try {
    const auto json = nlohmann::json::parse(saved);
    state_ = {json.at("scale").get<double>(), integer_of(json.at("good_steps")),
              integer_of(json.at("skipped_steps"))};
  } catch (const nlohmann::json::exception& error) {
    throw Error(ErrorCode::Data,
                fmt::format("the checkpoint's loss scale: {}", json_problem(error)));
  }
}

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
