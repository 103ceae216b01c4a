// Settings that are no run's: of files and stages that prepare data.
#pragma once

#include <string>
#include <vector>

#include "spec/settings/settings.h"

namespace ingot::cli {

struct SettingSection {
  std::string name;               // "data dedup"
  std::string intro;              // a paragraph
  std::vector<Setting> settings;  // with their defaults; they are bound to nothing
};

std::vector<SettingSection> data_setting_sections();

}  // namespace ingot::cli
