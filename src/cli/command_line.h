// The command line as commands describe it. CLI11 does the work, seen by command_line.cpp and
// main.cpp alone: to include it takes a compiler eight seconds, in every file anew.
#pragma once

#include <functional>
#include <list>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace ingot::cli {

// Each call returns the option itself, for the next one.
class Option {
 public:
  explicit Option(CLI::Option* option) : option_(option) {}

  Option* required(bool is_required = true);
  Option* capture_default_str();  // shows the value that the variable has now as the default
  Option* default_str(const std::string& shown);
  Option* type_name(const std::string& shown);  // in the help, in place of TEXT or INT
  Option* allow_extra_args(bool allowed);       // false: one value each time it is given
  Option* one_of(const std::vector<std::string>& names);
  Option* positive();
  Option* not_negative();
  Option* between(double low, double high);  // both included
  Option* existing_file();
  Option* size_in_bytes();  // "2GB" and "2GiB" are 2·2³⁰

 private:
  CLI::Option* option_;
};

// A command, or the whole program. What is returned lives as long as it; variables given to options
// must live until parse() is over.
class Command {
 public:
  explicit Command(CLI::App* app) : app_(app) {}
  Command(const Command&) = delete;
  Command& operator=(const Command&) = delete;

  Command* add_subcommand(const std::string& name, const std::string& help);
  // "--name" or, without dashes, a positional argument. Defined for the types that commands use.
  template <class T>
  Option* add_option(const std::string& name, T& value, const std::string& help);
  Option* add_flag(const std::string& name, bool& value, const std::string& help);
  Option* get_option(const std::string& name);  // one that was added here

  void callback(
      std::function<void()> run);        // when the command is given, after its options are read
  void footer(const std::string& text);  // of the help
  void require_subcommand(size_t min, size_t max);
  void require_subcommand(size_t count) { require_subcommand(count, count); }

 private:
  CLI::App* app_;
  std::list<Command> subcommands_;  // lists: pointers into them stay
  std::list<Option> options_;
};

}  // namespace ingot::cli
