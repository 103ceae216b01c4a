// The splitters that need no files of their own, as a setting.
#pragma once

#include <string>
#include <utility>

#include "spec/settings/settings.h"

namespace ingot {

inline Setting splitter_setting(std::string name, std::string& field) {
  return choice_setting(
      std::move(name), {"auto", "spacy-en", "uax29", "whitespace"}, [&field] { return field; },
      [&field](const std::string& wanted) { field = wanted; },
      "what words are; auto goes by the script");
}

}  // namespace ingot
