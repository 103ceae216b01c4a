#include <sys/stat.h>

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>

#include "traps/pty.h"
#include "traps/trap.h"

namespace ingot::test {
namespace {

class CommandLineTrap : public Trap {
 protected:
  // Every command and every group, as words: the program itself is {}.
  std::vector<Args> all_commands() const {
    std::vector<Args> all;
    collect({}, all);
    return all;
  }
  std::string help_of(const Args& command) const { return ingot(with(command, {"--help"})).out; }

  static std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    return lines;
  }
  static std::string last_line(const std::string& text) {
    const auto lines = lines_of(text);
    return lines.empty() ? "" : lines.back();
  }
  static size_t width_of(const std::string& line) {
    return static_cast<size_t>(
        std::count_if(line.begin(), line.end(), [](char c) { return (c & 0xC0) != 0x80; }));
  }

 private:
  void collect(const Args& command, std::vector<Args>& all) const {
    all.push_back(command);
    bool listed = false;
    for (const std::string& line : lines_of(help_of(command))) {
      if (!line.starts_with("  ")) listed = line == "Commands:" || line == "Subcommands:";
      if (!listed || !line.starts_with("  ") || line[2] == ' ') continue;
      collect(with(command, {line.substr(2, line.find(' ', 2) - 2)}), all);
    }
  }
};

TEST_F(CommandLineTrap, TheProgressLineFitsTheTerminalAndHasNoEscapeSequences) {
  Terminal terminal(train_args("run", {"train.steps=3000"}), 40);
  std::string text = terminal.read();
  EXPECT_EQ(terminal.wait(), 0) << text;
  EXPECT_EQ(text.find('\033'), std::string::npos);
  size_t rewritten = 0;
  for (const std::string& line : lines_of(text)) {
    if (line.find('\r') == line.size() - 1) continue;  // lines that stay may be long
    std::istringstream in(line);
    for (std::string part; std::getline(in, part, '\r'); ++rewritten) {
      if (part.starts_with("step 3000/")) continue;
      EXPECT_LT(width_of(part), 40u) << part;
    }
  }
  EXPECT_GT(rewritten, 2u);
}

TEST_F(CommandLineTrap, ADumbTerminalGetsPlainLines) {
  Terminal terminal(train_args("run", {"train.steps=300"}), 80, {"TERM=dumb"});
  const std::string text = terminal.read();
  EXPECT_EQ(terminal.wait(), 0);
  EXPECT_EQ(text.find('\033'), std::string::npos);
  for (size_t at = text.find('\r'); at != std::string::npos; at = text.find('\r', at + 1))
    EXPECT_EQ(text[at + 1], '\n');
}

TEST_F(CommandLineTrap, InAPipeARunPrintsAFewLines) {
  const Outcome outcome = ingot(train_args("run", {"train.steps=500"}));
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  const auto lines = lines_of(outcome.err);
  const auto steps = std::count_if(lines.begin(), lines.end(),
                                   [](const auto& line) { return line.starts_with("step "); });
  EXPECT_GE(steps, 2);   // the first and the last
  EXPECT_LE(steps, 10);  // and one every ten seconds
}

TEST_F(CommandLineTrap, NoHelpIsWiderThanEightyColumns) {
  const auto commands = all_commands();
  EXPECT_GT(commands.size(), 30u);
  for (const Args& command : commands) {
    for (const std::string& line : lines_of(help_of(command)))
      EXPECT_LE(width_of(line), 80u) << line;
  }
}

TEST_F(CommandLineTrap, HelpFitsANarrowerTerminal) {
  Terminal terminal({"train", "--help"}, 50);
  for (const std::string& line : lines_of(terminal.read())) EXPECT_LE(width_of(line), 51u) << line;
}

TEST_F(CommandLineTrap, EveryHelpNamesTheExitCodes) {
  for (const Args& command : all_commands())
    EXPECT_TRUE(contains(help_of(command), "3 stopped and saved")) << help_of(command);
}

TEST_F(CommandLineTrap, WrongUsageExitsWithTwoInEveryCommand) {
  for (const Args& command : all_commands()) {
    const Outcome outcome = ingot(with(command, {"--no-such-option"}));
    EXPECT_EQ(outcome.code, 2) << outcome.err;
    EXPECT_TRUE(contains(outcome.err, "unknown option --no-such-option")) << outcome.err;
  }
}

TEST_F(CommandLineTrap, MistypedNamesGetTheNearestOne) {
  const auto error_of = [&](const Args& args) {
    const Outcome outcome = ingot(args);
    EXPECT_EQ(outcome.code, 2);
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
    return outcome.err;
  };
  EXPECT_TRUE(contains(error_of({"trian"}), "unknown command trian; did you mean train?"));
  EXPECT_TRUE(contains(error_of({"data", "tokenzie"}), "did you mean tokenize?"));
  EXPECT_TRUE(contains(error_of({"train", "r.toml", "--reume"}), "did you mean --resume?"));
  EXPECT_TRUE(contains(error_of({"generate", "run", "--device", "cdua"}), "did you mean cuda?"));
  EXPECT_TRUE(contains(error_of({"config", "show", "--set", "optim.lrr=1"}), "optim.lr"));
  EXPECT_TRUE(contains(error_of({"config", "show", "--set", "x=1"}), "ingot config keys"));
}

TEST_F(CommandLineTrap, TextsOfLibrariesDoNotReachTheUser) {
  ASSERT_EQ(ingot(train_args("run")).code, 0);
  write("run/step_00000006/manifest.json", "{}");
  write("broken.toml", "[batch\nseq = 16\n");
  const std::vector<Args> cases = {
      {"checkpoint", "verify", path("run/step_00000006")},
      {"checkpoint", "ls", path("run")},
      {"generate", path("run"), "--tokens", "abc"},
      {"generate", path("run"), "--tokens", "99999999999999999999"},
      {"generate", path("run"), "--temperature", "nan"},
      {"train", path("broken.toml")},
      {"data", "mix", path("broken.toml"), "--out", path("mixed")},
      {"train"},
      {"generate"},
      {"data"},
      {"train", path("recipe.toml"), "one", "too", "many"},
  };
  for (const Args& args : cases) {
    const Outcome outcome = ingot(args);
    EXPECT_NE(outcome.code, 0);
    EXPECT_TRUE(outcome.err.starts_with("ingot: ")) << outcome.err;
    for (const char* foreign :
         {"json.exception", "Error while parsing", "Could not convert", "is required",
          "not expected", "Run with --help", "std::", "basic_string", "unexpected:"})
      EXPECT_FALSE(contains(outcome.err, foreign)) << outcome.err;
  }
}

TEST_F(CommandLineTrap, ARecipeThatIsNoFileIsRefusedAndNotWaitedFor) {
  ASSERT_EQ(mkfifo(path("pipe.toml").c_str(), 0600), 0);
  for (const std::string& recipe : {path("pipe.toml"), std::string("/dev/zero"), root_.string()}) {
    Process process({"config", "show", recipe}, root_, {"timeout", "5"});
    EXPECT_EQ(process.wait(), 1) << recipe;
    EXPECT_TRUE(contains(process.err(), recipe)) << process.err();
  }
}

TEST_F(CommandLineTrap, AnswersAreAlsoOneLineOfJson) {
  ASSERT_EQ(ingot(train_args("run")).code, 0);
  const std::string checkpoint = path("run/step_00000006");
  const std::vector<std::pair<Args, std::string>> cases = {
      {{"version"}, "version"},
      {{"checkpoint", "ls", path("run")}, "checkpoints"},
      {{"checkpoint", "show", path("run")}, "step"},
      {{"checkpoint", "verify", checkpoint}, "bytes"},
      {{"generate", path("run"), "--prompt", "Line", "--tokens", "4"}, "text"},
  };
  for (const auto& [args, key] : cases) {
    const Outcome outcome = ingot(with(args, {"--json"}));
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    const auto result = nlohmann::json::parse(last_line(outcome.out), nullptr, false);
    ASSERT_TRUE(result.is_object()) << outcome.out;
    EXPECT_TRUE(result.contains(key)) << result.dump();
  }
}

TEST_F(CommandLineTrap, ShellsCompleteCommandsOptionsAndSettings) {
  for (const std::string name : {"bash", "zsh", "fish"}) {
    const Outcome script = ingot({"completion", name});
    ASSERT_EQ(script.code, 0) << script.err;
    write("completion." + name, script.out);
    const Outcome syntax = shell("if command -v " + name + " >/dev/null; then " + name +
                                 " -n completion." + name + "; fi");
    EXPECT_EQ(syntax.code, 0) << syntax.err;
  }
  // As bash calls it: the words of the line, and which of them is being typed.
  const auto completed = [&](const std::string& words) {
    write("ask.sh", ". ./completion.bash\nCOMP_WORDS=(" + words +
                        ")\nCOMP_CWORD=$((${#COMP_WORDS[@]} - 1))\n_ingot\n"
                        "printf '%s\\n' \"${COMPREPLY[@]}\"\n");
    return lines_of(shell("bash ask.sh").out);
  };
  EXPECT_EQ(completed("ingot tr"), (Args{"train"}));
  EXPECT_EQ(completed("ingot data tok"), (Args{"tokenize"}));
  EXPECT_EQ(completed("ingot train r.toml --res"), (Args{"--resume"}));
  EXPECT_EQ(completed("ingot generate run --device cu"), (Args{"cuda"}));
  EXPECT_EQ(completed("ingot train r.toml --set optim.weight"), (Args{"optim.weight_decay="}));
  EXPECT_EQ(completed("ingot completion z"), (Args{"zsh"}));
}

TEST_F(CommandLineTrap, VerboseBeforeOrAfterTheCommandNamesFilesAndAlgorithms) {
  for (const Args& args : {with({"-v"}, train_args("before")), with(train_args("after"), {"-v"})}) {
    const Outcome outcome = ingot(args);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    for (const char* seen : {"recipe.toml", "text.txt", "ledger.jsonl", "isa"})
      EXPECT_TRUE(contains(outcome.err, seen)) << seen << "\n" << outcome.err;
  }
  EXPECT_FALSE(contains(ingot(train_args("quiet")).err, "recipe.toml"));
}

TEST_F(CommandLineTrap, RawBytesDoNotReachTheTerminal) {
  ASSERT_EQ(ingot(train_args("run")).code, 0);
  const Args generate = {"generate", path("run"), "--prompt", "\033[31mred\xff", "--tokens", "1"};
  Terminal terminal(generate, 80);
  const std::string shown = terminal.read();
  EXPECT_EQ(shown.find('\033'), std::string::npos);
  EXPECT_TRUE(contains(shown, "\\x1b[31mred\\xff")) << shown;
  // Elsewhere bytes are what they are.
  EXPECT_TRUE(ingot(generate).out.starts_with("\033[31mred\xff"));

  Terminal failing({"generate", "no\033[31mfolder"}, 80);
  const std::string error = failing.read();
  EXPECT_EQ(error.find('\033'), std::string::npos);
  EXPECT_TRUE(contains(error, "\\x1b[31mfolder")) << error;
}

}  // namespace
}  // namespace ingot::test
