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

// Whether a resumed run may change the setting.
enum class SettingScope {
  Fixed,  // changing it gives another run: a resume must have the same value
  Free,   // leaves what was trained so far unchanged: a resume may change it
  Local   // about the machine or the output: a resume may change it, and it is in no hash
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

// Declarations bound to a field, which must outlive them. Integers accept whole numbers, also
// written as 1e6. Numbers accept both and must be finite. Text is UTF-8 without control characters.
Setting flag_setting(std::string name, bool& field, std::string doc);
Setting integer_setting(std::string name, int64_t& field, Range range, std::string unit,
                        std::string doc);
Setting number_setting(std::string name, double& field, Range range, std::string unit,
                       std::string doc);
Setting text_setting(std::string name, std::string& field, std::string doc);
// `get` and `set` use names of `choices`; `set` is called only with one of them.
Setting choice_setting(std::string name, std::vector<std::string> choices,
                       std::function<std::string()> get,
                       std::function<void(const std::string&)> set, std::string doc);

// An enumerator with the name that name_of() gives it.
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

// A text setting whose field is not text: `get` returns the text, `set` parses it.
Setting converted_setting(std::string name, std::string doc, std::function<std::string()> get,
                          std::function<void(std::string_view)> set);
// A list of words, as text separated by spaces.
Setting list_setting(std::string name, std::vector<std::string>& field, std::string doc);

// For declarations bound to a default-constructed object: its values become the defaults.
std::vector<Setting> with_defaults(std::vector<Setting> settings);

using Overrides = std::vector<std::pair<std::string, std::string>>;  // name, value as text

// Tables [[NAME]] of a file: each is an element of a list with its own settings.
struct SettingList {
  std::string name;
  std::function<std::vector<Setting>()> add;  // a new element; its settings are "NAME.key"
  std::function<void()> finish;               // called after each element's values are set
};

// Sets what a TOML text and then the overrides name; «preset» of either comes first. Throws
// ErrorCode::Config for unknown keys (with the line and the nearest name, or `page`, which lists
// all), wrong types and values out of range. Errors thrown by `finish` get the line of its table.
void apply_toml(std::string_view toml, std::string_view origin, const Overrides& overrides,
                const std::vector<Setting>& settings, std::string_view page,
                const std::vector<SettingList>& lists = {});
inline constexpr std::string_view kSettingsPage = "`ingot config keys`";

// "from 1 to 65536", "above 0", …; empty when unbounded.
std::string range_text(const Setting& setting);

// Sets from command-line text, parsed by the setting's type: true or false; 1000000, 1_000_000, 1e6
// or, for integers, 64k, 20M, 2B, 1T (decimal multiples); text unchanged. Throws as `set` does.
void set_from_text(const Setting& setting, std::string_view text);

// The value as TOML text that reads back to exactly the same value.
std::string toml_text(const SettingValue& value);

// `text` with control characters replaced, for one-line messages.
std::string on_one_line(std::string_view text);

}  // namespace ingot
