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

HelpRow row_of(const Option& option) {
  std::string left;
  if (!option.short_name().empty()) left += option.short_name() + ", ";
  left += option.name();
  const std::string choices = fmt::format("{}", fmt::join(option.choices(), "|"));
  if (!option.is_flag() && !option.is_positional())
    left +=
        " " + (choices.empty() || choices.size() > kChoicesShown ? option.shown_type() : choices);
  std::string right = option.help();
  if (choices.size() > kChoicesShown)
    right += fmt::format(" (one of {})", fmt::join(option.choices(), ", "));
  if (option.is_required() && !option.is_positional()) right += " (required)";
  if (!option.shown_default().empty())
    right += fmt::format(" (default {})", option.shown_default());
  return {left, right};
}

void add_rows(Wrapped& help, const std::vector<HelpRow>& rows) {
  for (const HelpRow& row : rows)
    help.add(std::string(kIndent, ' ') + row.left, row.right, kColumn);
}

}  // namespace

const std::string_view kExitCodes =
    "Exit codes: 0 done, 1 failed, 2 usage, 3 stopped and saved, 4 rank lost or late";

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

std::string usage_of(const Command& command) {
  std::string usage = command.full_name();
  if (!command.subcommands().empty()) usage += " COMMAND";
  usage += " [OPTIONS]";
  for (const Option& option : command.options()) {
    if (!option.is_positional()) continue;
    const std::string name = option.name() + (option.takes_many() ? "…" : "");
    usage += option.is_required() ? " " + name : " [" + name + "]";
  }
  return usage;
}

std::vector<HelpRow> argument_rows(const Command& command) {
  std::vector<HelpRow> rows;
  for (const Option& option : command.options())
    if (option.is_positional()) rows.push_back(row_of(option));
  return rows;
}

std::vector<HelpRow> option_rows(const Command& command) {
  std::vector<HelpRow> rows;
  for (const Option& option : command.options())
    if (!option.is_positional()) rows.push_back(row_of(option));
  for (const Command* above = command.parent(); above != nullptr; above = above->parent()) {
    for (const Option& option : above->options())
      if (option.is_everywhere()) rows.push_back(row_of(option));
  }
  rows.push_back({"-h, --help", "this text"});
  return rows;
}

std::string help_text(const Command& command, int columns) {
  Wrapped help(columns);
  help.add("", command.help(), 0);
  help.add("", "Usage: " + usage_of(command), 0);
  if (!command.subcommands().empty()) help.add("", "\nCommands:", 0);
  for (const Command& sub : command.subcommands()) {
    const std::string& all = sub.help();
    help.add("  " + sub.name(), all.substr(0, all.find('\n')), kColumn);
  }
  const std::vector<HelpRow> arguments = argument_rows(command);
  if (!arguments.empty()) help.add("", "\nArguments:", 0);
  add_rows(help, arguments);
  help.add("", "\nOptions:", 0);
  add_rows(help, option_rows(command));
  if (!command.footer().empty()) help.add("", "\n" + reflowed(command.footer()), 0);
  help.add("", fmt::format("\n{}", kExitCodes), 0);
  return help.take();
}

void print_help(const Command& command) {
  fmt::print("{}", help_text(command, columns_of(STDOUT_FILENO)));
}

}  // namespace ingot::cli
