#include <fmt/format.h>

#include <algorithm>

#include "cli/frame/command_line.h"
#include "cli/frame/help.h"
#include "core/error/error.h"

namespace ingot::cli {

// Walks through the words once, from the program down to the command that they name.
class CommandLine {
 public:
  CommandLine(Command& program, const std::vector<std::string>& words)
      : words_(words), current_(&program) {
    path_.push_back(current_);
  }

  // The command that was named; null when its help was printed instead.
  Command* read() {
    bool all_positional = false;
    while (at_ < words_.size()) {
      const std::string& word = words_[at_++];
      if (all_positional || word == "-" || !word.starts_with('-')) {
        take_plain(word);
      } else if (word == "--") {
        all_positional = true;
      } else if (word == "--help" || word == "-h") {
        print_help(*current_);
        return nullptr;
      } else {
        take_option(word);
      }
    }
    return current_;
  }

  void check_complete() const {
    for (const Option& option : current_->options_) {
      check(!option.required_ || option.times_ > 0, ErrorCode::Usage, "expected {}: {}; {}",
            shown(option), option.help_, see_help());
    }
    check(current_->run_ != nullptr, ErrorCode::Usage, "expected one of {} after {}",
          fmt::join(subcommand_names(), ", "), current_->full_name());
  }

 private:
  std::string see_help() const { return fmt::format("see {} --help", current_->full_name()); }
  static std::string shown(const Option& option) {
    return option.is_positional() ? option.name_ : option.name_ + " " + option.type_name_;
  }

  // A command's name or a positional argument.
  void take_plain(const std::string& word) {
    for (Command& command : current_->subcommands_) {
      if (command.name_ != word) continue;
      current_ = &command;
      path_.push_back(current_);
      return;
    }
    const auto positional = std::find_if(
        current_->options_.begin(), current_->options_.end(),
        [](const Option& o) { return o.is_positional() && (o.times_ == 0 || o.takes_many_); });
    if (positional != current_->options_.end()) return positional->give(word);
    const std::vector<std::string> names = subcommand_names();
    check(!names.empty(), ErrorCode::Usage, "{} expects no «{}»; {}", current_->full_name(), word,
          see_help());
    throw Error(ErrorCode::Usage,
                fmt::format("unknown command {}; {}", word, did_you_mean(word, names, see_help())));
  }

  // False: the word is not another spelling of an option with its value.
  bool take_other_spelling(const std::string& word) const {
    for (Option* option : known_options())
      for (const auto& [flag, value] : option->other_spellings_)
        if (flag == word) return option->give(value), true;
    return false;
  }

  void take_option(const std::string& word) {
    if (take_other_spelling(word)) return;
    const size_t equals = word.find('=');
    Option* option = find(word.substr(0, equals));
    if (option == nullptr) {
      const std::string name = word.substr(0, equals);
      check(!takes_command(), ErrorCode::Usage,
            "unknown option {}: what every rank runs comes after --, as in {} -n 2 -- train "
            "RECIPE {} …",
            name, current_->full_name(), name);
      throw Error(ErrorCode::Usage, fmt::format("unknown option {}; {}", name,
                                                did_you_mean(name, option_names(), see_help())));
    }
    if (option->is_flag()) {
      check(equals == std::string::npos, ErrorCode::Usage, "{}: expected no value, got «{}»",
            option->name_, word.substr(std::min(equals, word.size() - 1) + 1));
      return option->give("");
    }
    if (equals != std::string::npos) return option->give(word.substr(equals + 1));
    check(at_ < words_.size() && find(words_[at_]) == nullptr, ErrorCode::Usage,
          "{}: expected a value ({}), got {}", option->name_, option->type_name_,
          at_ < words_.size() ? words_[at_] : "nothing");
    option->give(words_[at_++]);
    if (!option->takes_many_ || !option->many_at_a_time_) return;
    while (at_ < words_.size() && !words_[at_].starts_with('-')) option->give(words_[at_++]);
  }

  // Words of another command came already, without the -- before them.
  bool takes_command() const {
    return std::ranges::any_of(current_->options_, [](const Option& option) {
      return option.name_ == "COMMAND" && option.times_ > 0;
    });
  }

  Option* find(const std::string& name) const {
    if (name.empty()) return nullptr;  // a value; most options have no short name either
    for (Option* option : known_options())
      if (option->name_ == name || option->short_name_ == name) return option;
    return nullptr;
  }

  std::vector<Option*> known_options() const {
    std::vector<Option*> known;
    for (Command* command : path_) {
      for (Option& option : command->options_)
        if (!option.is_positional() && (command == current_ || option.everywhere_))
          known.push_back(&option);
    }
    return known;
  }

  std::vector<std::string> subcommand_names() const {
    std::vector<std::string> names;
    for (const Command& command : current_->subcommands_) names.push_back(command.name_);
    return names;
  }

  std::vector<std::string> option_names() const {
    std::vector<std::string> names = {"--help"};
    for (const Option* option : known_options()) names.push_back(option->name_);
    return names;
  }

  const std::vector<std::string>& words_;
  size_t at_ = 0;
  Command* current_;
  std::vector<Command*> path_;  // from the program to current_
};

Exit Command::run(const std::vector<std::string>& words, const std::function<void()>& before) {
  CommandLine line(*this, words);
  Command* command = line.read();
  if (command == nullptr) return Exit::Done;
  line.check_complete();
  before();
  return command->run_();
}

}  // namespace ingot::cli
