// The [model] section's declarations, bound to a model config.
#pragma once

#include <string_view>
#include <vector>

#include "spec/model/model_config.h"
#include "spec/settings/settings.h"

namespace ingot {

// `model` must outlive the settings.
std::vector<Setting> model_settings(ModelConfig& model);

// The same by name, without "model."; throws ErrorCode::Internal for an unknown one.
class ModelFields {
 public:
  explicit ModelFields(ModelConfig& model) : settings_(model_settings(model)) {}

  const Setting& operator[](std::string_view name) const;
  const std::vector<Setting>& all() const { return settings_; }

 private:
  std::vector<Setting> settings_;
};

}  // namespace ingot
