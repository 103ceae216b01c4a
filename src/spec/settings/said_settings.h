// What a recipe and overrides say themselves, before defaults and the preset fill in the rest.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "spec/settings/settings.h"

namespace ingot {

class SaidSettings {
 public:
  // Throws ErrorCode::Config where `toml` is none. `overrides` must outlive it.
  SaidSettings(std::string_view toml, std::string_view origin, const Overrides& overrides);

  // As text: the last override's, or else the recipe's. Nothing where neither says it.
  std::optional<std::string> find(std::string_view name) const;
  bool has(std::string_view name) const { return find(name).has_value(); }
  bool is_overridden(std::string_view name) const;

 private:
  nlohmann::json recipe_;
  const Overrides& overrides_;
};

}  // namespace ingot
