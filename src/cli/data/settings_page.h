// Settings of data preparation: of its stages and files, not of runs.
#pragma once

#include <string>
#include <vector>

#include "spec/settings/settings.h"

namespace ingot::cli {

struct SettingSection {
  std::string name;               // "data dedup"
  std::string intro;              // a paragraph
  std::vector<Setting> settings;  // with their defaults; bound to no variable
};

std::vector<SettingSection> data_setting_sections();

}  // namespace ingot::cli
