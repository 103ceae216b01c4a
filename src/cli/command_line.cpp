#include "cli/command_line.h"

#include <CLI/CLI.hpp>
#include <cstdint>

namespace ingot::cli {
namespace {

// CLI11's own PositiveNumber answers with the 309 digits of the largest double.
CLI::Validator number_that(bool (*holds)(double), const std::string& expected,
                           const std::string& name) {
  return {[=](const std::string& text) {
            double value = 0;
            const bool good = CLI::detail::lexical_cast(text, value) && holds(value);
            return good ? std::string() : "expected a number " + expected + ", got " + text;
          },
          name};
}

}  // namespace

Option* Option::required(bool is_required) {
  option_->required(is_required);
  return this;
}

Option* Option::capture_default_str() {
  option_->capture_default_str();
  return this;
}

Option* Option::default_str(const std::string& shown) {
  option_->default_str(shown);
  return this;
}

Option* Option::type_name(const std::string& shown) {
  option_->type_name(shown);
  return this;
}

Option* Option::allow_extra_args(bool allowed) {
  option_->allow_extra_args(allowed);
  return this;
}

Option* Option::one_of(const std::vector<std::string>& names) {
  option_->check(CLI::IsMember(names));
  return this;
}

Option* Option::positive() {
  option_->check(number_that([](double value) { return value > 0; }, "above 0", "POSITIVE"));
  return this;
}

Option* Option::not_negative() {
  option_->check(
      number_that([](double value) { return value >= 0; }, "not below 0", "NONNEGATIVE"));
  return this;
}

Option* Option::between(double low, double high) {
  option_->check(CLI::Range(low, high));
  return this;
}

Option* Option::existing_file() {
  option_->check(CLI::ExistingFile);
  return this;
}

Option* Option::size_in_bytes() {
  option_->transform(CLI::AsSizeValue(/*kb_is_1000=*/false));
  return this;
}

Command* Command::add_subcommand(const std::string& name, const std::string& help) {
  return &subcommands_.emplace_back(app_->add_subcommand(name, help));
}

template <class T>
Option* Command::add_option(const std::string& name, T& value, const std::string& help) {
  return &options_.emplace_back(app_->add_option(name, value, help));
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
  return &options_.emplace_back(app_->add_flag(name, value, help));
}

Option* Command::get_option(const std::string& name) {
  return &options_.emplace_back(app_->get_option(name));
}

void Command::callback(std::function<void()> run) {
  app_->callback(std::move(run));
}

void Command::footer(const std::string& text) {
  app_->footer(text);
}

void Command::require_subcommand(size_t min, size_t max) {
  app_->require_subcommand(min, max);
}

}  // namespace ingot::cli
