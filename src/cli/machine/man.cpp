// ingot man: the manual page, made of what --help says of each command.
#include <fmt/format.h>

#include "cli/frame/command.h"
#include "cli/frame/help.h"

namespace ingot::cli {
namespace {

// A line of text as roff has it: no sign of it is a request or an escape.
std::string escaped(std::string_view line) {
  std::string out = line.starts_with('.') || line.starts_with('\'') ? "\\&" : "";
  for (const char c : line) {
    if (c == '\\')
      out += "\\e";
    else if (c == '-')
      out += "\\-";  // else some fonts show a hyphen, which no shell takes
    else
      out += c;
  }
  return out;
}

// Paragraphs, and lines that begin with a space as they stand.
std::string paragraphs(const std::string& text) {
  std::string out;
  bool literal = false;
  const auto set_literal = [&](bool wanted) {
    if (literal != wanted) out += wanted ? ".nf\n" : ".fi\n";
    literal = wanted;
  };
  for (size_t at = 0; at <= text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const std::string line = text.substr(at, end - at);
    at = end + 1;
    set_literal(line.starts_with(' '));
    out += line.empty() ? (at <= text.size() ? ".PP\n" : "") : escaped(line) + "\n";
  }
  set_literal(false);
  return out;
}

std::string rows_text(const std::vector<HelpRow>& rows) {
  std::string out;
  for (const HelpRow& row : rows)
    out += fmt::format(".TP\n.B {}\n{}", escaped(row.left), paragraphs(row.right));
  return out;
}

void add_sections(const Command& command, std::string& page) {
  page += fmt::format(".SS {}\n{}", escaped(usage_of(command)), paragraphs(command.help()));
  page += rows_text(argument_rows(command));
  if (command.subcommands().empty()) page += rows_text(option_rows(command));
  if (!command.footer().empty()) page += ".PP\n" + paragraphs(reflowed(command.footer()));
  for (const Command& sub : command.subcommands()) add_sections(sub, page);
}

std::string man_page(const Command& program) {
  std::string page =
      fmt::format(".TH INGOT 1 \"\" \"ingot {}\" \"User Commands\"\n", INGOT_VERSION);
  page += ".SH NAME\ningot \\- from raw text to a trained language model\n.SH SYNOPSIS\n";
  page += fmt::format(".B {}\n.SH DESCRIPTION\n{}", escaped(usage_of(program)),
                      paragraphs(program.help() + "\n\n" + program.footer()));
  page += ".SH OPTIONS\n" + rows_text(option_rows(program)) + ".SH COMMANDS\n";
  for (const Command& command : program.subcommands()) add_sections(command, page);
  page += fmt::format(".SH EXIT STATUS\n{}", paragraphs(std::string(kExitCodes)));
  return page;
}

}  // namespace

void add_man(Command& program) {
  auto* man = program.add_subcommand("man", "the manual page of all commands, for man and groff");
  man->footer("Example: ingot man | man -l -");
  man->callback([&program] { fmt::print("{}", man_page(program)); });
}

}  // namespace ingot::cli
