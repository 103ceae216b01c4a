// Internal to checkpoint: shared by the reader and the writer of config.json.
#pragma once

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

#include "checkpoint/exchange/architecture.h"
#include "core/error/error.h"
#include "spec/model/model_settings.h"

namespace ingot {

// The settings of a model config by name, without "model.". `model` must outlive it.
class ModelFields {
 public:
  explicit ModelFields(ModelConfig& model) : settings_(model_settings(model)) {}

  const Setting& operator[](std::string_view name) const {
    for (const Setting& setting : settings_)
      if (std::string_view(setting.name).substr(6) == name) return setting;  // after "model."
    throw Error(ErrorCode::Internal, fmt::format("no setting is called model.{}", name));
  }
  const std::vector<Setting>& all() const { return settings_; }

 private:
  std::vector<Setting> settings_;
};

// The window if config.json gives none, in all architectures.
inline constexpr int64_t kMissingHfWindow = 4096;

// The context of a model with dynamic scaling: `factor` times its original context.
int64_t dynamic_context(ModelConfig model);

// The model in a parsed config.json. Throws MemberError or ErrorCode::Data as parse_hf_config().
ModelConfig read_hf_config(const nlohmann::json& config, const Architecture& architecture);

}  // namespace ingot
