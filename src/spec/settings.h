// A setting is declared once: name, type, unit, default, range and doc. Parsing, --help, the
// reference page, the resolved dump and the hash come from that declaration.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace ingot {

using SettingValue = std::variant<bool, int64_t, double, std::string>;

struct Setting {
  std::string name;  // dotted: "optim.lr"
  std::string unit;  // "tokens", "bytes", …; empty when none
  std::string doc;   // one sentence
  SettingValue default_value;
  std::vector<std::string> choices;  // for enumerations
  double min = 0, max = 0;           // numeric range; min == max: unbounded
  // Reads and writes the field the declaration is bound to. `set` throws ErrorCode::Config with
  // the setting's name, what was expected and what it got.
  std::function<SettingValue()> get;
  std::function<void(const SettingValue&)> set;
};

// The nearest of `names` by edit distance, or empty when nothing is near.
std::string nearest_name(std::string_view wrong, const std::vector<std::string>& names);

}  // namespace ingot
