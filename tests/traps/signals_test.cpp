#include <sys/stat.h>

#include "core/storage/storage.h"
#include "support/ledger_contents.h"
#include "traps/pty.h"
#include "traps/trap.h"

namespace ingot::test {
namespace {

class Signals : public Trap {
 protected:
  // A run that does not end by itself.
  Args endless(const Args& sets = {}) const {
    return with(train_args("run", {"train.steps=100000000"}), sets_of(sets));
  }
  static Args sets_of(const Args& sets) {
    Args args;
    for (const std::string& set : sets) args.insert(args.end(), {"--set", set});
    return args;
  }

  size_t steps_recorded() const { return records("step"); }
  size_t records(const std::string& kind) const {
    if (!fs::exists(path("run/ledger.jsonl"))) return 0;
    size_t count = 0;
    for (const auto& record : read_ledger(*posix_storage(), path("run/ledger.jsonl")).records)
      count += record.at("kind") == kind;
    return count;
  }
  bool runs(size_t steps = 3) const {
    return comes_true([&] { return steps_recorded() >= steps; });
  }
  // Its exit code, or -1000 when it does not end.
  static int end_of(Process& process) {
    return comes_true([&] { return !process.is_running(); }) ? process.wait() : -1000;
  }

  // More than a run of this model reads in a minute.
  void write_long_text() const {
    std::string text;
    for (int i = 0; i < 1'000'000; ++i) text += "Line " + std::to_string(i) + " of the text.\n";
    write("long.txt", text);
  }
  // Validation that takes minutes.
  Args with_long_validation() const {
    write_long_text();
    return endless(
        {"data.valid=" + path("long.txt"), "train.eval_every=2", "train.eval_tokens=20000000"});
  }
  // A step that takes minutes.
  Args with_long_step() const { return endless({"batch.tokens=320000000"}); }
};

TEST_F(Signals, InterruptTermAndUsr1SaveAndStopWithExitCodeThree) {
  for (const int number : {SIGINT, SIGTERM, SIGUSR1}) {
    fs::remove_all(path("run"));
    Process process(endless(), root_);
    ASSERT_TRUE(runs());
    process.signal(number);
    EXPECT_EQ(end_of(process), 3) << process.err();
    EXPECT_TRUE(contains(process.err(), "saved after this step and stops")) << process.err();
    EXPECT_TRUE(contains(process.out(), "--resume")) << process.out();
    EXPECT_EQ(records("checkpoint"), 1u);
    EXPECT_EQ(ingot({"checkpoint", "show", path("run")}).code, 0);
  }
}

TEST_F(Signals, Usr2SavesAndTheRunGoesOn) {
  Process process(endless({"checkpoint.keep=5"}), root_);
  ASSERT_TRUE(runs());
  process.signal(SIGUSR2);
  ASSERT_TRUE(comes_true([&] { return records("checkpoint") == 1; })) << process.err();
  const size_t then = steps_recorded();
  EXPECT_TRUE(comes_true([&] { return steps_recorded() > then + 3; }));
  EXPECT_TRUE(contains(process.err(), "SIGUSR2"));
  process.signal(SIGTERM);
  EXPECT_EQ(end_of(process), 3);
}

TEST_F(Signals, HangupGoesOnWithoutTheTerminal) {
  auto terminal = std::make_unique<Terminal>(train_args("run", {"train.steps=3000"}), 80);
  ASSERT_TRUE(runs());
  const int code = terminal->hang_up();
  EXPECT_EQ(code, 0);
  EXPECT_EQ(records("end"), 1u);
}

TEST_F(Signals, AClosedPipeOnStderrDoesNotEndARun) {
  const Outcome outcome = shell(
      "{ \"$INGOT\" train recipe.toml --set data.train=text.txt --set checkpoint.dir=run "
      "--set train.log_every=1 --set train.steps=3000; echo $? > code; } 2>&1 >/dev/null | "
      "head -c 1 > first");
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(slurp(root_ / "code"), "0\n");
  EXPECT_EQ(records("end"), 1u);
}

TEST_F(Signals, ValidationIsAbandonedForASignal) {
  Process process(with_long_validation(), root_);
  ASSERT_TRUE(runs(2));
  process.signal(SIGTERM);
  EXPECT_EQ(end_of(process), 3) << process.err();
  EXPECT_EQ(records("eval"), 0u);
  EXPECT_EQ(records("checkpoint"), 1u);
}

TEST_F(Signals, AllRanksAgreeToAbandonValidation) {
  Process process(with(with_long_validation(), sets_of({"system.ranks=2"})), root_);
  ASSERT_TRUE(runs(2));
  process.signal(SIGTERM);
  EXPECT_EQ(end_of(process), 3) << process.err();
  EXPECT_EQ(records("checkpoint"), 1u);
}

TEST_F(Signals, TheFirstIsAcknowledgedAtOnceAndTheSecondEnds) {
  Process process(with_long_step(), root_);
  ASSERT_TRUE(comes_true([&] { return contains(process.err(), "folder"); }));
  process.signal(SIGINT);
  ASSERT_TRUE(comes_true([&] { return contains(process.err(), "SIGINT"); })) << process.err();
  process.signal(SIGTERM);
  EXPECT_EQ(end_of(process), -SIGTERM) << process.err();
}

TEST_F(Signals, ATextThatIsShortenedWhileItIsReadIsNamed) {
  Process process(endless(), root_);
  ASSERT_TRUE(runs());
  fs::resize_file(path("text.txt"), 100);
  EXPECT_EQ(end_of(process), 1);
  EXPECT_TRUE(contains(process.err(), "text.txt was shortened")) << process.err();
}

TEST_F(Signals, AShardThatIsShortenedWhileItIsReadIsNamed) {
  write_long_text();
  ASSERT_EQ(
      ingot({"data", "tokenize", path("long.txt"), "--tokenizer", "byte", "--out", path("shards")})
          .code,
      0);
  Process process(train_args("run", {"train.steps=500000", "data.train=" + path("shards"),
                                     "data.valid=" + path("text.txt"), "data.valid_in_train=true"}),
                  root_);
  ASSERT_TRUE(runs()) << process.err();
  std::string shard;
  for (const auto& entry : fs::recursive_directory_iterator(path("shards"))) {
    if (entry.is_regular_file() && entry.file_size() > 100'000) shard = entry.path();
  }
  ASSERT_NE(shard, "");
  fs::resize_file(shard, 100);
  EXPECT_EQ(end_of(process), 1);
  EXPECT_TRUE(contains(process.err(), shard + " was shortened")) << process.err();
}

TEST_F(Signals, TheFileSizeLimitIsAnErrorThatNamesTheFile) {
  const Outcome outcome = shell(
      "ulimit -f 200; \"$INGOT\" train recipe.toml --set data.train=text.txt "
      "--set checkpoint.dir=run");
  EXPECT_EQ(outcome.code, 1) << outcome.err;
  EXPECT_TRUE(contains(outcome.err, "ulimit -f")) << outcome.err;
  EXPECT_TRUE(contains(outcome.err, "run/")) << outcome.err;
}

TEST_F(Signals, OutputThatCannotBeWrittenIsAnErrorInEveryCommand) {
  ASSERT_EQ(ingot(train_args("run")).code, 0);
  ASSERT_EQ(
      ingot({"data", "tokenize", path("text.txt"), "--tokenizer", "byte", "--out", path("shards")})
          .code,
      0);
  for (const std::string command :
       {"--help",
        "--version",
        "train --help",
        "data clean --help",
        "config show",
        "config keys",
        "checkpoint ls run",
        "checkpoint show run",
        "checkpoint verify run/step_00000006",
        "generate run --tokens 3",
        "generate run --tokens 3 --json",
        "data inspect shards",
        "data verify shards",
        "data cat shards",
        "data seen run",
        "data clean --print-config",
        "tokenizer info --tokenizer byte",
        "tokenizer encode --tokenizer byte --input text.txt",
        "tokenizer compare --tokenizer byte text.txt",
        "train recipe.toml --set data.train=text.txt --set checkpoint.dir=again"}) {
    const Outcome outcome = shell("\"$INGOT\" " + command + " > /dev/full");
    EXPECT_EQ(outcome.code, 1) << command;
    EXPECT_TRUE(contains(outcome.err, "cannot write to stdout")) << command << outcome.err;
    fs::remove_all(path("again"));
  }
}

}  // namespace
}  // namespace ingot::test
