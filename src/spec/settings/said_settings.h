// What a recipe and overrides set explicitly, before the preset and defaults are applied.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "spec/settings/settings.h"

namespace ingot {

class SaidSettings {
 public:
  // Throws ErrorCode::Config if `toml` is not TOML. `overrides` must outlive this object.
  SaidSettings(std::string_view toml, std::string_view origin, const Overrides& overrides);

  // The value as text: the last override's, or else the recipe's. Nothing if neither sets it.
  std::optional<std::string> find(std::string_view name) const;
  bool has(std::string_view name) const { return find(name).has_value(); }
  bool is_overridden(std::string_view name) const;

 private:
  nlohmann::json recipe_;
  const Overrides& overrides_;
};

}  // namespace ingot
