// The command line: a tree of commands with their options, and the parsed arguments. Help (help.h)
// and shell completion (completion.cpp) are made from the same tree.
#pragma once

#include <functional>
#include <list>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "spec/settings/settings.h"

namespace ingot::cli {

// The exit code of the process, the same in every command.
enum class Exit { Done = 0, Failed = 1, Usage = 2, Stopped = 3, RankLost = 4 };

// "did you mean NAME?", or `otherwise` if none of `names` is similar.
std::string did_you_mean(std::string_view wrong, const std::vector<std::string>& names,
                         std::string_view otherwise);

// The setters return the option itself, so that calls can be chained.
class Option {
 public:
  Option* required(bool is_required = true);
  Option* capture_default_str();  // shows the variable's current value as the default
  Option* default_str(const std::string& shown);
  Option* type_name(const std::string& shown);  // in the help, in place of TEXT or INT
  Option* allow_extra_args(bool allowed);       // false: one value each time it is given
  Option* one_of(const std::vector<std::string>& names);
  Option* positive();
  Option* not_negative();
  Option* between(double low, double high);  // both included
  Option* existing_file();
  Option* size_in_bytes();  // "2GB" and "2GiB" are 2·2³⁰
  Option* everywhere();     // subcommands accept it too
  // Accepts an older spelling: `flag` alone means this option with `value`. Help does not show it.
  Option* also(const std::string& flag, const std::string& value);
  // Values for shell completion, computed when they are needed.
  Option* suggest(std::function<std::vector<std::string>()> values);

  const std::string& name() const { return name_; }  // "--name", or "name" of a positional
  const std::string& short_name() const { return short_name_; }  // "-n" or empty
  const std::string& help() const { return help_; }
  const std::string& shown_type() const { return type_name_; }  // empty: a flag
  const std::string& shown_default() const { return default_; }
  const std::vector<std::string>& choices() const { return choices_; }
  std::vector<std::string> suggestions() const { return suggest_ ? suggest_() : choices_; }
  bool is_positional() const { return name_[0] != '-'; }
  bool is_flag() const { return type_name_.empty(); }
  bool is_required() const { return required_; }
  bool takes_many() const { return takes_many_; }
  bool is_everywhere() const { return everywhere_; }
  bool is_given() const { return times_ > 0; }
  std::string value() const { return value_text_(); }  // if it takes a single value

 private:
  friend class Command;
  friend class CommandLine;
  using Check = std::function<void(const std::string& value, double number)>;  // throws Usage

  void give(std::string value);  // checks and stores it; throws ErrorCode::Usage
  [[noreturn]] void refuse(const std::string& expected, const std::string& got) const;

  std::string name_, short_name_, help_, type_name_, default_;
  bool required_ = false, takes_many_ = false, many_at_a_time_ = true, in_bytes_ = false;
  bool everywhere_ = false;
  std::vector<std::string> choices_;
  std::vector<std::pair<std::string, std::string>> other_spellings_;  // a flag, the value it means
  std::vector<Check> checks_;
  std::function<std::vector<std::string>()> suggest_;
  std::function<std::string()> value_text_;
  std::function<bool(const std::string&)> store_;  // false: of another type
  int times_ = 0;
};

// A command, or the whole program. Returned pointers live as long as it. Variables given to options
// must live until run() has returned.
class Command {
 public:
  Command(std::string name, std::string help, const Command* parent = nullptr);
  Command(const Command&) = delete;
  Command& operator=(const Command&) = delete;

  Command* add_subcommand(const std::string& name, const std::string& help);
  // `name`: "--name", "-n,--name" or, without dashes, a positional argument. Defined for the types
  // that commands use.
  template <class T>
  Option* add_option(const std::string& name, T& value, const std::string& help);
  Option* add_flag(const std::string& name, bool& value, const std::string& help);
  // An option for a declared setting: "dedup.n_gram" becomes --n-gram. The setting's variable must
  // live until run() has returned.
  Option* add_setting(const Setting& setting);
  Option* get_option(const std::string& name);  // an option that was added to this command

  // Called for this command after its options are read. Returns Exit or nothing, which is Done.
  template <class Run>
  void callback(Run run) {
    if constexpr (std::is_void_v<std::invoke_result_t<Run&>>)
      run_ = [run = std::move(run)]() mutable { return run(), Exit::Done; };
    else
      run_ = std::move(run);
  }
  void footer(const std::string& text) { footer_ = text; }  // of the help

  // `words`: the program's arguments without its name. Runs the command that they name, or prints
  // its help. Throws ErrorCode::Usage if they do not fit the command; for an unknown name the error
  // suggests the most similar one. `before` is called between reading and running.
  Exit run(const std::vector<std::string>& words, const std::function<void()>& before);

  const std::string& name() const { return name_; }
  std::string full_name() const;  // "ingot data clean"
  const std::string& help() const { return help_; }
  const std::string& footer() const { return footer_; }
  const Command* parent() const { return parent_; }
  const std::list<Command>& subcommands() const { return subcommands_; }
  const std::list<Option>& options() const { return options_; }

 private:
  friend class CommandLine;
  Option* add(const std::string& name, const std::string& type, const std::string& help);

  std::string name_, help_, footer_;
  const Command* parent_;
  std::list<Command> subcommands_;  // lists: pointers into them stay
  std::list<Option> options_;
  std::function<Exit()> run_;
};

}  // namespace ingot::cli
