// ingot completion bash | zsh | fish
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "cli/frame/command.h"

namespace ingot::cli {
namespace {

// "/data/clean"; empty for the program itself.
std::string path_of(const Command& command) {
  return command.parent() == nullptr ? "" : path_of(*command.parent()) + "/" + command.name();
}

std::vector<const Command*> all_commands(const Command& program) {
  std::vector<const Command*> all = {&program};
  for (const Command& sub : program.subcommands()) {
    for (const Command* command : all_commands(sub)) all.push_back(command);
  }
  return all;
}

// Its own options and those of the commands above it, without arguments.
std::vector<const Option*> options_of(const Command& command) {
  std::vector<const Option*> options;
  for (const Command* at = &command; at != nullptr; at = at->parent()) {
    for (const Option& option : at->options())
      if (!option.is_positional() && (at == &command || option.is_everywhere()))
        options.push_back(&option);
  }
  return options;
}

// What may come where no option waits for its value.
std::vector<std::string> words_of(const Command& command) {
  std::vector<std::string> words = {"--help"};
  for (const Command& sub : command.subcommands()) words.push_back(sub.name());
  for (const Option* option : options_of(command)) words.push_back(option->name());
  for (const Option& option : command.options()) {
    if (!option.is_positional()) continue;
    for (const std::string& value : option.suggestions()) words.push_back(value);
  }
  return words;
}

std::string paths_of(const Command& program, std::string_view between) {
  std::vector<std::string> paths;
  for (const Command* command : all_commands(program))
    if (command->parent() != nullptr) paths.push_back(path_of(*command));
  return fmt::format("{}", fmt::join(paths, between));
}

// A function for bash, and for zsh's emulation of it, where `path` would be PATH.
std::string bash_function(const Command& program) {
  std::string values, words;
  for (const Command* command : all_commands(program)) {
    const std::string path = path_of(*command);
    words +=
        fmt::format("        '{}') offered='{}' ;;\n", path, fmt::join(words_of(*command), " "));
    for (const Option* option : options_of(*command)) {
      if (option->is_flag()) continue;
      values += fmt::format("    '{} {}') offered='{}' ;;\n", path, option->name(),
                            fmt::join(option->suggestions(), " "));
    }
  }
  return fmt::format(R"(_ingot() {{
  local current="${{COMP_WORDS[COMP_CWORD]}}" before="${{COMP_WORDS[COMP_CWORD-1]}}"
  local at='' word offered=''
  for word in "${{COMP_WORDS[@]:1:$((COMP_CWORD - 1))}}"; do
    case "$at/$word" in
      {}) at="$at/$word" ;;
    esac
  done
  case "$at $before" in
{}    *)
      case "$at" in
{}      esac ;;
  esac
  COMPREPLY=($(compgen -W "$offered" -- "$current"))
  if [[ "${{COMPREPLY[*]}}" == *= ]]; then compopt -o nospace 2>/dev/null; fi
}}
)",
                     paths_of(program, "|"), values, words);
}

std::string bash_script(const Command& program) {
  return "# For bash: eval \"$(ingot completion bash)\" in ~/.bashrc\n" + bash_function(program) +
         "complete -o default -F _ingot ingot\n";
}

std::string zsh_script(const Command& program) {
  return "# For zsh: eval \"$(ingot completion zsh)\" in ~/.zshrc, after compinit\n"
         "autoload -U +X bashcompinit && bashcompinit\n" +
         bash_function(program) + "complete -o default -F _ingot ingot\n";
}

// The first line, for fish.
std::string in_quotes(const std::string& text) {
  std::string out = "'";
  for (const char c : text.substr(0, text.find('\n'))) {
    if (c == '\'' || c == '\\') out += '\\';
    out += c;
  }
  return out + "'";
}

std::string fish_script(const Command& program) {
  std::string script = fmt::format(
      "# For fish: ingot completion fish > ~/.config/fish/completions/ingot.fish\n"
      "function __ingot_path\n"
      "  set -l path ''\n"
      "  for word in (commandline -opc)[2..-1]\n"
      "    contains -- $path/$word {}; and set path $path/$word\n"
      "  end\n"
      "  echo \"$path\"\n"
      "end\n",
      paths_of(program, " "));
  for (const Command* command : all_commands(program)) {
    const std::string here =
        fmt::format("complete -c ingot -n 'test (__ingot_path) = \"{}\"'", path_of(*command));
    for (const Command& sub : command->subcommands())
      script += fmt::format("{} -f -a {} -d {}\n", here, sub.name(), in_quotes(sub.help()));
    for (const Option& option : command->options()) {
      if (option.is_positional() && !option.suggestions().empty())
        script += fmt::format("{} -f -a '{}'\n", here, fmt::join(option.suggestions(), " "));
    }
    script += here + " -s h -l help -d 'this text'\n";
    for (const Option* option : options_of(*command)) {
      script += fmt::format("{} -l {}", here, option->name().substr(2));
      if (!option->short_name().empty()) script += " -s " + option->short_name().substr(1);
      const auto values = option->suggestions();
      if (!values.empty())
        script += fmt::format(" -x -a '{}'", fmt::join(values, " "));
      else if (!option->is_flag())
        script += " -r";
      script += fmt::format(" -d {}\n", in_quotes(option->help()));
    }
  }
  return script;
}

}  // namespace

void add_completion(Command& program) {
  auto shell = std::make_shared<std::string>();
  auto* completion =
      program.add_subcommand("completion", "a script that completes commands in a shell");
  completion->add_option("shell", *shell, "bash, zsh or fish")
      ->required()
      ->one_of({"bash", "zsh", "fish"});
  completion->footer("Example: eval \"$(ingot completion bash)\"");
  completion->callback([shell, &program] {
    fmt::print("{}", *shell == "bash"  ? bash_script(program)
                     : *shell == "zsh" ? zsh_script(program)
                                       : fish_script(program));
  });
}

}  // namespace ingot::cli
