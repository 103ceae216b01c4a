#include "cli/frame/help.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "cli/frame/console.h"
#include "core/text/printable.h"

namespace ingot::cli {
namespace {

constexpr size_t kIndent = 2;
constexpr size_t kColumn = 24;        // where descriptions begin
constexpr size_t kChoicesShown = 24;  // longer lists stand in the description
constexpr std::string_view kExitCodes =
    "Exit codes: 0 done, 1 failed, 2 usage, 3 stopped and saved, 4 rank lost or late";

// A line's end inside of a paragraph is a space; lines that begin with one are examples and stay.
std::string reflowed(std::string_view text) {
  std::string out(text);
  bool example = out.starts_with(' ');
  for (size_t i = 1; i + 1 < out.size(); ++i) {
    if (out[i] != '\n') continue;
    const bool inside = !example && out[i - 1] != '\n' && out[i + 1] != '\n' && out[i + 1] != ' ';
    example = out[i + 1] == ' ';
    if (inside) out[i] = ' ';
  }
  return out;
}

// Text wrapped at spaces, each line after the first indented.
class Wrapped {
 public:
  explicit Wrapped(int columns) : columns_(static_cast<size_t>(std::max(columns, 40))) {}

  // `left` is followed by `text` at column `indent`, below it where there is no room beside it.
  void add(std::string_view left, std::string_view text, size_t indent) {
    line_ = left;
    if (!left.empty() && width_of(line_) + 2 > indent) end_line();
    for (bool first = true; !text.empty() || first; first = false) {
      const size_t end = text.find('\n');
      if (!first) end_line();
      add_line(text.substr(0, end), indent);
      text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    }
    end_line();
  }

  std::string take() { return std::move(text_); }

 private:
  void add_line(std::string_view words, size_t indent) {
    if (words.starts_with(' ')) {
      line_.append(indent, ' ');
      line_ += words;
      return;
    }
    bool begins = true;  // no word stands at this indent yet
    while (!words.empty()) {
      // A word that has no line to itself is cut.
      const size_t end = std::min(words.find(' '), words.size());
      const std::string_view word = cut_to_width(words.substr(0, end), columns_ - indent);
      words.remove_prefix(word.size() == end ? std::min(end + 1, words.size()) : word.size());
      if (!begins && width_of(line_) + 1 + width_of(word) > columns_) {
        end_line();
        begins = true;
      }
      if (begins)
        line_.append(indent - std::min(indent, width_of(line_)), ' ');
      else
        line_ += ' ';
      line_ += word;
      begins = false;
    }
  }

  void end_line() {
    text_ += line_ + '\n';
    line_.clear();
  }

  size_t columns_;
  std::string text_, line_;
};

std::string usage_of(const Command& command) {
  std::string usage = "Usage: " + command.full_name();
  if (!command.subcommands().empty()) usage += " COMMAND";
  usage += " [OPTIONS]";
  for (const Option& option : command.options()) {
    if (!option.is_positional()) continue;
    const std::string name = option.name() + (option.takes_many() ? "…" : "");
    usage += option.is_required() ? " " + name : " [" + name + "]";
  }
  return usage;
}

std::string left_of(const Option& option) {
  std::string left(kIndent, ' ');
  if (!option.short_name().empty()) left += option.short_name() + ", ";
  left += option.name();
  if (option.is_flag() || option.is_positional()) return left;
  const std::string choices = fmt::format("{}", fmt::join(option.choices(), "|"));
  return left + " " +
         (choices.empty() || choices.size() > kChoicesShown ? option.shown_type() : choices);
}

std::string right_of(const Option& option) {
  std::string right = option.help();
  const std::string choices = fmt::format("{}", fmt::join(option.choices(), ", "));
  if (choices.size() > kChoicesShown) right += " (one of " + choices + ")";
  if (option.is_required() && !option.is_positional()) right += " (required)";
  if (!option.shown_default().empty())
    right += fmt::format(" (default {})", option.shown_default());
  return right;
}

void add_option(Wrapped& help, const Option& option) {
  help.add(left_of(option), right_of(option), kColumn);
}

}  // namespace

std::string help_text(const Command& command, int columns) {
  Wrapped help(columns);
  help.add("", command.help(), 0);
  help.add("", usage_of(command), 0);
  if (!command.subcommands().empty()) help.add("", "\nCommands:", 0);
  for (const Command& sub : command.subcommands()) {
    const std::string& all = sub.help();
    help.add("  " + sub.name(), all.substr(0, all.find('\n')), kColumn);
  }
  const auto is_positional = [](const Option& option) { return option.is_positional(); };
  if (std::ranges::any_of(command.options(), is_positional)) help.add("", "\nArguments:", 0);
  for (const Option& option : command.options())
    if (option.is_positional()) add_option(help, option);
  help.add("", "\nOptions:", 0);
  for (const Option& option : command.options())
    if (!option.is_positional()) add_option(help, option);
  for (const Command* above = command.parent(); above != nullptr; above = above->parent()) {
    for (const Option& option : above->options())
      if (option.is_everywhere()) add_option(help, option);
  }
  help.add("  -h, --help", "this text", kColumn);
  if (!command.footer().empty()) help.add("", "\n" + reflowed(command.footer()), 0);
  help.add("", fmt::format("\n{}", kExitCodes), 0);
  return help.take();
}

void print_help(const Command& command) {
  fmt::print("{}", help_text(command, columns_of(STDOUT_FILENO)));
}

}  // namespace ingot::cli
