// A setting is declared once: name, type, unit, default, range and doc. Parsing, --help, the
// reference page, the resolved dump and the hash come from that declaration.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace ingot {

using SettingValue = std::variant<bool, int64_t, double, std::string>;

enum class SettingType { Flag, Integer, Number, Text, Choice };

// What another value of a setting means for a run that goes on.
enum class SettingScope {
  Fixed,  // it would be another run: a resume has the same
  Free,   // what was trained so far stays as it is: a resume may have another
  Local   // it is the same run elsewhere, or said louder: a resume may have another, no hash knows
};

struct Setting {
  std::string name;  // dotted: "optim.lr"
  std::string unit;  // "tokens", "bytes", …; empty when none
  std::string doc;   // one sentence
  SettingType type = SettingType::Text;
  SettingValue default_value;
  std::vector<std::string> choices;  // for enumerations
  double min = 0, max = 0;           // numeric range; min == max: unbounded
  SettingScope scope = SettingScope::Fixed;
  // Reads and writes the field the declaration is bound to. `set` throws ErrorCode::Config with
  // the setting's name, what was expected and what it got.
  std::function<SettingValue()> get;
  std::function<void(const SettingValue&)> set;
};

inline Setting with_scope(SettingScope scope, Setting setting) {
  setting.scope = scope;
  return setting;
}

struct Range {
  double min = 0, max = 0;  // both included
};
inline constexpr double kTiny = 1e-30;  // least value of settings that must be above zero
inline constexpr double kHuge = 1e30;
inline constexpr double kMaxTokens = 1e15;  // of a run: a hundred times the largest published one

// Declarations bound to a field, which must outlive them. Integers take whole numbers written as
// such or as 1e6; numbers take both and must be finite; text is UTF-8 without control characters.
Setting flag_setting(std::string name, bool& field, std::string doc);
Setting integer_setting(std::string name, int64_t& field, Range range, std::string unit,
                        std::string doc);
Setting number_setting(std::string name, double& field, Range range, std::string unit,
                       std::string doc);
Setting text_setting(std::string name, std::string& field, std::string doc);
// `get` and `set` deal in names of `choices`; `set` is called with one of them only.
Setting choice_setting(std::string name, std::vector<std::string> choices,
                       std::function<std::string()> get,
                       std::function<void(const std::string&)> set, std::string doc);

// An enumerator under the name that it has elsewhere too.
template <class E>
std::pair<std::string, E> named(E value) {
  return {std::string(name_of(value)), value};
}

template <class E>
Setting enum_setting(std::string name, E& field, std::vector<std::pair<std::string, E>> names,
                     std::string doc) {
  std::vector<std::string> choices;
  for (const auto& entry : names) choices.push_back(entry.first);
  auto get = [&field, names] {
    for (const auto& [text, value] : names)
      if (value == field) return text;
    return std::string();
  };
  auto set = [&field, names](const std::string& wanted) {
    for (const auto& [text, value] : names)
      if (text == wanted) field = value;
  };
  return choice_setting(std::move(name), std::move(choices), get, set, std::move(doc));
}

// A setting of type text whose field is not: `get` gives the text, `set` takes it.
Setting converted_setting(std::string name, std::string doc, std::function<std::string()> get,
                          std::function<void(std::string_view)> set);
// Words, as text with spaces between them.
Setting list_setting(std::string name, std::vector<std::string>& field, std::string doc);

// Of declarations bound to an object as it was made: what they have is what they have by default.
std::vector<Setting> with_defaults(std::vector<Setting> settings);

using Overrides = std::vector<std::pair<std::string, std::string>>;  // name, value as text

// Tables [[NAME]] of a file: each is an element of a list and has settings of its own.
struct SettingList {
  std::string name;
  std::function<std::vector<Setting>()> add;  // a new element; its settings are "NAME.key"
  std::function<void()> finish;               // of the last element, which has its values
};

// Sets what a TOML text and then the overrides name, «preset» of either before anything else.
// Throws ErrorCode::Config for unknown keys (with the nearest name, or `page`, which lists all, and
// the line), wrong types and values out of range; what `finish` throws gets the line of its table.
void apply_toml(std::string_view toml, std::string_view origin, const Overrides& overrides,
                const std::vector<Setting>& settings, std::string_view page,
                const std::vector<SettingList>& lists = {});
inline constexpr std::string_view kSettingsPage = "`ingot config keys`";

// "from 1 to 65536", "above 0", …; empty when unbounded.
std::string range_text(const Setting& setting);

// Sets from command-line text, read by the setting's type: true or false; 1000000, 1_000_000, 1e6
// or, for integers, 64k, 20M, 2B, 1T (decimal multiples); text as it is. Throws as `set` does.
void set_from_text(const Setting& setting, std::string_view text);

// The value as TOML text that reads back to exactly the same value.
std::string toml_text(const SettingValue& value);

// `text` with control characters replaced, for messages that stay on one line.
std::string on_one_line(std::string_view text);

}  // namespace ingot
