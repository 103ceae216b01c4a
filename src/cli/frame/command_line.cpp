#include "cli/frame/command_line.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <optional>

#include "core/error/error.h"
#include "core/text/nearest.h"

namespace ingot::cli {
namespace {

template <class T>
bool parse_number(const std::string& text, T& value) {
  const char* last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, value);
  return error == std::errc() && end == last;
}

template <class T>
std::string type_text() {
  if (std::is_integral_v<T>) return "INT";
  return std::is_floating_point_v<T> ? "NUMBER" : "TEXT";
}

bool store(const std::string& text, std::string& value) {
  value = text;
  return true;
}
bool store(const std::string& text, std::vector<std::string>& values) {
  values.push_back(text);
  return true;
}
template <class T>
bool store(const std::string& text, T& value) {
  if constexpr (std::is_floating_point_v<T>)
    return parse_number(text, value) && std::isfinite(value);
  else
    return parse_number(text, value);
}

std::string text_of(const std::vector<std::string>& values) {
  return fmt::format("{}", fmt::join(values, " "));
}
template <class T>
std::string text_of(const T& value) {
  return fmt::format("{}", value);
}

// "512MB" → bytes, in powers of 1024; nothing when it is no size.
std::optional<int64_t> parse_size(const std::string& text) {
  const size_t digits = std::min(text.find_first_not_of("0123456789."), text.size());
  double size = 0;
  if (!parse_number(text.substr(0, digits), size)) return std::nullopt;
  std::string unit;
  for (const char c : text.substr(digits)) {
    if (c != ' ') unit += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  }
  if (unit.ends_with("IB")) unit.erase(unit.size() - 2, 1);
  constexpr std::string_view kUnits = "KMGTP";
  for (size_t power = 0; power <= kUnits.size(); ++power) {
    const std::string name = power == 0 ? "" : std::string(1, kUnits[power - 1]);
    if (unit == name || unit == name + "B") {
      size = std::ldexp(size, static_cast<int>(10 * power));
      return size < 9e18 ? std::optional(static_cast<int64_t>(size)) : std::nullopt;
    }
  }
  return std::nullopt;
}

}  // namespace

std::string did_you_mean(std::string_view wrong, const std::vector<std::string>& names,
                         std::string_view otherwise) {
  const std::string near = nearest_name(wrong, names);
  return near.empty() ? std::string(otherwise) : fmt::format("did you mean {}?", near);
}

Option* Option::required(bool is_required) {
  required_ = is_required;
  return this;
}

Option* Option::capture_default_str() {
  default_ = value_text_();
  return this;
}

Option* Option::default_str(const std::string& shown) {
  default_ = shown;
  return this;
}

Option* Option::type_name(const std::string& shown) {
  type_name_ = shown;
  return this;
}

Option* Option::allow_extra_args(bool allowed) {
  many_at_a_time_ = allowed;
  return this;
}

Option* Option::one_of(const std::vector<std::string>& names) {
  choices_ = names;
  return this;
}

Option* Option::positive() {
  checks_.push_back([this](const std::string& value, double number) {
    if (!(number > 0)) refuse("a number above 0", value);
  });
  return this;
}

Option* Option::not_negative() {
  checks_.push_back([this](const std::string& value, double number) {
    if (!(number >= 0)) refuse("a number not below 0", value);
  });
  return this;
}

Option* Option::between(double low, double high) {
  checks_.push_back([=, this](const std::string& value, double number) {
    if (!(number >= low && number <= high))
      refuse(fmt::format("a number from {} to {}", low, high), value);
  });
  return this;
}

Option* Option::existing_file() {
  checks_.push_back([this](const std::string& value, double) {
    struct stat facts {};
    if (::stat(value.c_str(), &facts) != 0 || S_ISDIR(facts.st_mode))
      refuse("a file that exists", value);
  });
  return this;
}

Option* Option::size_in_bytes() {
  in_bytes_ = true;
  return this;
}

Option* Option::everywhere() {
  everywhere_ = true;
  return this;
}

Option* Option::also(const std::string& flag, const std::string& value) {
  other_spellings_.emplace_back(flag, value);
  return this;
}

Option* Option::suggest(std::function<std::vector<std::string>()> values) {
  suggest_ = std::move(values);
  return this;
}

void Option::refuse(const std::string& expected, const std::string& got) const {
  throw Error(ErrorCode::Usage, fmt::format("{}: expected {}, got «{}»", name_, expected, got));
}

void Option::give(std::string value) {
  check(takes_many_ || is_flag() || times_ == 0, ErrorCode::Usage,
        "{} was given twice: expected it once", name_);
  ++times_;
  if (in_bytes_) {
    const auto bytes = parse_size(value);
    if (!bytes) refuse("a size such as 512MB or 4GB", value);
    value = std::to_string(*bytes);
  }
  if (!choices_.empty() && std::find(choices_.begin(), choices_.end(), value) == choices_.end()) {
    throw Error(ErrorCode::Usage, fmt::format("{}: expected one of {}, got «{}»; {}", name_,
                                              fmt::join(choices_, ", "), value,
                                              did_you_mean(value, choices_, "choose one")));
  }
  if (!store_(value)) {
    double number = 0;  // whole, but larger than the type holds
    const bool whole =
        type_name_ == "INT" && parse_number(value, number) && number == std::floor(number);
    refuse(whole ? "a smaller number" : type_name_ == "INT" ? "a whole number" : "a number", value);
  }
  double number = 0;
  parse_number(value, number);
  for (const Check& passes : checks_) passes(value, number);
}

Command::Command(std::string name, std::string help, const Command* parent)
    : name_(std::move(name)), help_(std::move(help)), parent_(parent) {}

Command* Command::add_subcommand(const std::string& name, const std::string& help) {
  return &subcommands_.emplace_back(name, help, this);
}

Option* Command::add(const std::string& name, const std::string& type, const std::string& help) {
  Option& option = options_.emplace_back();
  const size_t comma = name.find(',');
  option.name_ = comma == std::string::npos ? name : name.substr(comma + 1);
  if (comma != std::string::npos) option.short_name_ = name.substr(0, comma);
  option.type_name_ = type;
  option.help_ = help;
  return &option;
}

template <class T>
Option* Command::add_option(const std::string& name, T& value, const std::string& help) {
  Option* option = add(name, type_text<T>(), help);
  option->takes_many_ = std::is_same_v<T, std::vector<std::string>>;
  option->store_ = [&value](const std::string& text) { return store(text, value); };
  option->value_text_ = [&value] { return text_of(value); };
  return option;
}
template Option* Command::add_option(const std::string&, std::string&, const std::string&);
template Option* Command::add_option(const std::string&, std::vector<std::string>&,
                                     const std::string&);
template Option* Command::add_option(const std::string&, int&, const std::string&);
template Option* Command::add_option(const std::string&, int64_t&, const std::string&);
template Option* Command::add_option(const std::string&, uint32_t&, const std::string&);
template Option* Command::add_option(const std::string&, uint64_t&, const std::string&);
template Option* Command::add_option(const std::string&, double&, const std::string&);

Option* Command::add_flag(const std::string& name, bool& value, const std::string& help) {
  Option* option = add(name, "", help);
  option->store_ = [&value](const std::string&) { return value = true; };
  return option;
}

Option* Command::add_setting(const Setting& setting) {
  std::string name = "--" + setting.name.substr(setting.name.rfind('.') + 1);
  std::replace(name.begin(), name.end(), '_', '-');
  const bool is_flag = setting.type == SettingType::Flag;
  const bool is_integer = setting.type == SettingType::Integer;
  Option* option = add(name, is_flag ? "" : is_integer ? "INT" : "TEXT", setting.doc);
  option->choices_ = setting.choices;
  if (!is_flag)
    option->default_ =
        std::visit([](const auto& value) { return fmt::format("{}", value); }, setting.get());
  option->store_ = [setting, name, is_flag](const std::string& text) {
    try {
      is_flag ? setting.set(true) : set_from_text(setting, text);
    } catch (const Error& error) {  // "dedup.n_gram: expected …"
      throw Error(ErrorCode::Usage, name + std::string(error.what()).substr(setting.name.size()));
    }
    return true;
  };
  return option;
}

Option* Command::get_option(const std::string& name) {
  const auto found = std::find_if(options_.begin(), options_.end(),
                                  [&](const Option& option) { return option.name_ == name; });
  check(found != options_.end(), ErrorCode::Internal, "{} has no option {}", name_, name);
  return &*found;
}

std::string Command::full_name() const {
  return parent_ == nullptr ? name_ : parent_->full_name() + " " + name_;
}

}  // namespace ingot::cli
