#include "train/step/rate_factor.h"

#include <nlohmann/json.hpp>

#include "core/error/error.h"

namespace ingot {

std::string RateFactor::save() const {
  return nlohmann::json(value_).dump();
}

void RateFactor::load(std::string_view saved) {
  const auto json = nlohmann::json::parse(saved, nullptr, false);
  check(json.is_number(), ErrorCode::Data, "the checkpoint's rate factor is {}, no number", saved);
  value_ = json.get<double>();
}

}  // namespace ingot
