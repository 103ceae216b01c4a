#include "spec/settings/settings.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <memory>
#include <optional>

#include "core/error/error.h"
#include "core/text/nearest.h"
#include "core/text/python_text.h"
#include "core/text/utf8.h"

namespace ingot {
namespace {

constexpr double kLargestExactInteger = 9007199254740992.0;  // 2^53, as far as a double counts

std::string describe(const SettingValue& value) {
  if (const auto* text = std::get_if<std::string>(&value))
    return fmt::format("\"{}\"", on_one_line(*text));
  return toml_text(value);
}

std::string expected(const Setting& s) {
  const std::string range = s.min == s.max ? "" : " " + range_text(s);
  switch (s.type) {
    case SettingType::Flag:
      return "true or false";
    case SettingType::Integer:
      return "a whole number" + range;
    case SettingType::Number:
      return "a number" + range;
    case SettingType::Text:
      return "UTF-8 text without control characters";
    case SettingType::Choice:
      return fmt::format("one of {}", fmt::join(s.choices, ", "));
  }
  throw Error(ErrorCode::Internal, "unknown setting type");
}

[[noreturn]] void refuse(const Setting& s, const std::string& got) {
  throw Error(ErrorCode::Config, fmt::format("{}: expected {}, got {}", s.name, expected(s), got));
}

std::optional<int64_t> whole(const SettingValue& value) {
  if (const auto* integer = std::get_if<int64_t>(&value)) return *integer;
  const auto* number = std::get_if<double>(&value);
  if (number == nullptr || std::abs(*number) > kLargestExactInteger ||
      *number != std::floor(*number))
    return std::nullopt;
  return static_cast<int64_t>(*number);
}

std::optional<double> finite(const SettingValue& value) {
  if (const auto* integer = std::get_if<int64_t>(&value)) return static_cast<double>(*integer);
  const auto* number = std::get_if<double>(&value);
  return number != nullptr && std::isfinite(*number) ? std::optional(*number) : std::nullopt;
}

bool in_range(const Setting& s, double value) {
  return s.min == s.max || (value >= s.min && value <= s.max);
}

bool is_plain_utf8(std::string_view text) {
  const auto is_control = [](char c) { return (c >= 0 && c < 0x20) || c == 0x7f; };
  return is_utf8(text) && std::none_of(text.begin(), text.end(), is_control);
}

Setting declare(std::string name, SettingType type, std::string unit, std::string doc) {
  Setting s;
  s.name = std::move(name);
  s.type = type;
  s.unit = std::move(unit);
  s.doc = std::move(doc);
  return s;
}

// "1_000_000" → "1000000"; an underscore that does not stand between digits stays, and is refused.
std::string without_separators(std::string_view text) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool separates = text[i] == '_' && i > 0 && i + 1 < text.size() &&
                           is_digit(text[i - 1]) && is_digit(text[i + 1]);
    if (!separates) out += text[i];
  }
  return out;
}

template <class T>
std::optional<T> parse_whole_text(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::string_view exponent_of(char suffix) {
  switch (suffix) {
    case 'k':
      return "e3";
    case 'M':
      return "e6";
    case 'B':
      return "e9";
    case 'T':
      return "e12";
    default:
      return "";
  }
}

std::optional<SettingValue> parse_number(SettingType type, std::string_view text) {
  std::string digits = without_separators(text);
  if (const auto integer = parse_whole_text<int64_t>(digits)) return *integer;
  if (const auto number = parse_whole_text<double>(digits)) return *number;
  if (type != SettingType::Integer || digits.empty()) return std::nullopt;
  const std::string_view exponent = exponent_of(digits.back());
  if (exponent.empty()) return std::nullopt;
  digits.pop_back();
  digits += exponent;  // read as one decimal, so that 4.35k is exactly 4350
  const auto number = parse_whole_text<double>(digits);
  return number ? std::optional<SettingValue>(*number) : std::nullopt;
}

}  // namespace

Setting flag_setting(std::string name, bool& field, std::string doc) {
  Setting s = declare(std::move(name), SettingType::Flag, "", std::move(doc));
  s.get = [&field] { return SettingValue(field); };
  s.set = [&field, s](const SettingValue& value) {
    const bool* flag = std::get_if<bool>(&value);
    if (flag == nullptr) refuse(s, describe(value));
    field = *flag;
  };
  return s;
}

Setting integer_setting(std::string name, int64_t& field, Range range, std::string unit,
                        std::string doc) {
  Setting s = declare(std::move(name), SettingType::Integer, std::move(unit), std::move(doc));
  s.min = range.min, s.max = range.max;
  s.get = [&field] { return SettingValue(field); };
  s.set = [&field, s](const SettingValue& value) {
    const std::optional<int64_t> integer = whole(value);
    if (!integer || !in_range(s, static_cast<double>(*integer))) refuse(s, describe(value));
    field = *integer;
  };
  return s;
}

Setting number_setting(std::string name, double& field, Range range, std::string unit,
                       std::string doc) {
  Setting s = declare(std::move(name), SettingType::Number, std::move(unit), std::move(doc));
  s.min = range.min, s.max = range.max;
  s.get = [&field] { return SettingValue(field); };
  s.set = [&field, s](const SettingValue& value) {
    const std::optional<double> number = finite(value);
    if (!number || !in_range(s, *number)) refuse(s, describe(value));
    field = *number;
  };
  return s;
}

Setting text_setting(std::string name, std::string& field, std::string doc) {
  Setting s = declare(std::move(name), SettingType::Text, "", std::move(doc));
  s.get = [&field] { return SettingValue(field); };
  s.set = [&field, s](const SettingValue& value) {
    const auto* text = std::get_if<std::string>(&value);
    if (text == nullptr || !is_plain_utf8(*text)) refuse(s, describe(value));
    field = *text;
  };
  return s;
}

Setting choice_setting(std::string name, std::vector<std::string> choices,
                       std::function<std::string()> get,
                       std::function<void(const std::string&)> set, std::string doc) {
  Setting s = declare(std::move(name), SettingType::Choice, "", std::move(doc));
  s.choices = std::move(choices);
  s.get = [get = std::move(get)] { return SettingValue(get()); };
  s.set = [set = std::move(set), s](const SettingValue& value) {
    const auto* text = std::get_if<std::string>(&value);
    if (text == nullptr) refuse(s, describe(value));
    if (std::find(s.choices.begin(), s.choices.end(), *text) == s.choices.end()) {
      const std::string near = nearest_name(*text, s.choices);
      refuse(s, describe(value) + (near.empty() ? "" : fmt::format("; did you mean {}?", near)));
    }
    set(*text);
  };
  return s;
}

Setting converted_setting(std::string name, std::string doc, std::function<std::string()> get,
                          std::function<void(std::string_view)> set) {
  const auto text = std::make_shared<std::string>();
  Setting setting = text_setting(std::move(name), *text, std::move(doc));
  setting.get = [get = std::move(get)] { return SettingValue(get()); };
  setting.set = [text, set = std::move(set),
                 check_and_keep = setting.set](const SettingValue& value) {
    check_and_keep(value);
    set(*text);
  };
  return setting;
}

Setting list_setting(std::string name, std::vector<std::string>& field, std::string doc) {
  return converted_setting(
      std::move(name), std::move(doc),
      [&field] { return fmt::format("{}", fmt::join(field, " ")); },
      [&field](std::string_view text) {
        field.clear();
        for (std::string_view word; text::next_word(text, word);) field.emplace_back(word);
      });
}

std::vector<Setting> with_defaults(std::vector<Setting> settings) {
  for (Setting& setting : settings) setting.default_value = setting.get();
  return settings;
}

std::string range_text(const Setting& s) {
  if (s.min == s.max) return "";
  const std::string max = fmt::format("{:.10g}", s.max);
  if (s.min == kTiny) return s.max == kHuge ? "above 0" : "above 0, at most " + max;
  const std::string min = fmt::format("{:.10g}", s.min);
  return s.max == kHuge ? "at least " + min : fmt::format("from {} to {}", min, max);
}

void set_from_text(const Setting& setting, std::string_view text) {
  switch (setting.type) {
    case SettingType::Flag:
      if (text != "true" && text != "false") break;
      return setting.set(text == "true");
    case SettingType::Integer:
    case SettingType::Number:
      if (const auto value = parse_number(setting.type, text)) return setting.set(*value);
      break;
    case SettingType::Text:
    case SettingType::Choice:
      return setting.set(std::string(text));
  }
  refuse(setting, fmt::format("\"{}\"", on_one_line(text)));
}

std::string toml_text(const SettingValue& value) {
  if (const bool* flag = std::get_if<bool>(&value)) return *flag ? "true" : "false";
  if (const auto* integer = std::get_if<int64_t>(&value)) return fmt::format("{}", *integer);
  if (const auto* number = std::get_if<double>(&value)) {
    const std::string digits = fmt::format("{}", *number);  // shortest that reads back the same
    return digits.find_first_of(".en") == std::string::npos ? digits + ".0" : digits;
  }
  std::string quoted = "\"";
  for (const char c : std::get<std::string>(value)) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + '"';
}

std::string on_one_line(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  return out;
}

}  // namespace ingot
