// Detects settings that do nothing because of another one.
#pragma once

#include <string>
#include <vector>

#include "spec/run/run_config.h"

namespace ingot {

struct NoEffect {
  std::string setting;  // "optim.muon_lr"
  std::string why;      // "optim.kind is adamw"
};

// Of the settings whose values are not those of the defaults and the preset.
std::vector<NoEffect> settings_without_effect(const RunConfig& config);

}  // namespace ingot
