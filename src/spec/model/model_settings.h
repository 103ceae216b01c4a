// The [model] section's declarations, bound to a model config.
#pragma once

#include <vector>

#include "spec/model/model_config.h"
#include "spec/settings/settings.h"

namespace ingot {

// `model` must outlive the settings.
std::vector<Setting> model_settings(ModelConfig& model);

}  // namespace ingot
