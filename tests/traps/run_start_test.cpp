// How runs are begun, saved and resumed: docs/traps.md.
#include <map>
#include <nlohmann/json.hpp>

#include "core/storage/storage.h"
#include "support/ledger_contents.h"
#include "traps/trap.h"

namespace ingot::test {
namespace {

using Json = nlohmann::json;

class RunStartTrap : public Trap {
 protected:
  std::vector<Json> records(const std::string& run, const std::string& kind) const {
    const std::string ledger = path(run + "/ledger.jsonl");
    std::vector<Json> found;
    if (!fs::exists(ledger)) return found;
    for (const Json& record : read_ledger(*posix_storage(), ledger).records)
      if (record.at("kind") == kind) found.push_back(record);
    return found;
  }
  std::map<int64_t, double> losses(const std::string& run) const {
    std::map<int64_t, double> found;
    for (const Json& record : records(run, "step")) found[record.at("step")] = record.at("loss");
    return found;
  }
  Outcome train(const std::string& run, const Args& sets = {}, const Args& more = {}) const {
    return ingot(with(train_args(run, sets), more));
  }
  void expect_refused(const Outcome& outcome, const std::string& part) const {
    EXPECT_EQ(outcome.code, 2) << outcome.err;
    EXPECT_TRUE(contains(outcome.err, part)) << outcome.err;
  }
  size_t list_steps(const std::string& run) const {
    size_t count = 0;
    for (const auto& entry : fs::directory_iterator(path(run)))
      count += entry.path().filename().string().starts_with("step_");
    return count;
  }
  // `script` with mounts that only it sees.
  static std::string in_mounts(const std::string& script) {
    return "for flags in -m -rm; do unshare $flags mount -t tmpfs tmpfs /mnt 2>/dev/null && exec "
           "unshare $flags sh -c '" +
           script + "'; done; exit 125";
  }
  static size_t times(const std::string& text, const std::string& part) {
    size_t count = 0;
    for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
      ++count;
    return count;
  }

  // A run that gets `signal` when it says a line that begins with `line`; its exit code as the
  // shell has it.
  int signalled_at(const std::string& line, const std::string& signal, const Args& args) const {
    std::string words;
    for (const std::string& arg : args) words += " '" + arg + "'";
    const Outcome outcome =
        shell("mkfifo lines; \"$INGOT\"" + words +
              " 2>lines & pid=$!; while read -r said; do case "
              "\"$said\" in \"" +
              line + "\"*) kill -" + signal + " $pid;; esac; done <lines; wait $pid");
    fs::remove(path("lines"));
    return outcome.code;
  }
};

TEST_F(RunStartTrap, LengthsBelowAStepAreRefusedWithTheirValueInSteps) {
  // A step has 32 tokens.
  expect_refused(train("run", {"optim.schedule.warmup=3"}),
                 "for 3 steps --set optim.schedule.warmup=96");
  expect_refused(train("run", {"optim.schedule.kind=wsd", "optim.schedule.decay=2"}),
                 "for 2 steps --set optim.schedule.decay=64");
  expect_refused(train("run", {"train.total_tokens=5"}), "for 5 steps --set train.steps=5");
  expect_refused(ingot({"config", "show", path("recipe.toml"), "--set", "optim.schedule.warmup=3"}),
                 "--set optim.schedule.unit=steps");
  EXPECT_FALSE(fs::exists(root_ / "run"));
  const Outcome taken =
      train("run", {"optim.schedule.warmup=3", "optim.schedule.unit=steps"}, {"--dry-run"});
  EXPECT_EQ(taken.code, 0) << taken.err;
}

TEST_F(RunStartTrap, ACheckpointIsSavedByTheClockAndChangesNoLoss) {
  const Args show = {"config", "show", path("recipe.toml")};
  EXPECT_TRUE(contains(ingot(show).out, "minutes = 10.0\n"));
  EXPECT_TRUE(contains(ingot(with(show, {"--set", "checkpoint.every=0"})).out, "minutes = 0.0\n"));
  ASSERT_EQ(train("plain", {"checkpoint.every=0"}).code, 0);
  EXPECT_EQ(records("plain", "checkpoint").size(), 1u);
  for (const std::string ranks : {"1", "2"}) {
    const Args sets = {"checkpoint.minutes=1e-9", "checkpoint.keep=1", "system.ranks=" + ranks,
                       "batch.tokens=64"};
    const Outcome saved = train("saved" + ranks, sets);
    ASSERT_EQ(saved.code, 0) << saved.err;
    EXPECT_GT(records("saved" + ranks, "checkpoint").size(), 1u);
    EXPECT_EQ(list_steps("saved" + ranks), 1u);
    ASSERT_EQ(train("never" + ranks, with(sets, {"checkpoint.minutes=0"})).code, 0);
    EXPECT_EQ(losses("saved" + ranks), losses("never" + ranks));
  }
}

TEST_F(RunStartTrap, ARunThatIsKilledGoesOnFromWhatTheClockSaved) {
  const Args endless = train_args("run", {"train.steps=10000000", "checkpoint.minutes=1e-9"});
  EXPECT_EQ(signalled_at("saved", "KILL", endless), 128 + SIGKILL);
  const auto saved = records("run", "checkpoint");
  ASSERT_FALSE(saved.empty());
  const auto step = saved.back().at("step").get<int64_t>();
  const Outcome resumed =
      ingot({"train", "--resume", path("run"), "--set", "train.steps=" + std::to_string(step + 2)});
  EXPECT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_EQ(records("run", "start").back().at("step"), step);
}

TEST_F(RunStartTrap, SpaceForTwoCheckpointsIsLookedAtBeforeTheFirstStep) {
  const Outcome mounts = shell(in_mounts("true"));
  if (mounts.code != 0) GTEST_SKIP() << "no right to mount a file system";
  // One of 420,480 bytes has room there, two have not.
  const auto on_small_disk = [&](const std::string& size, const std::string& more) {
    return shell(in_mounts("mkdir -p disk && mount -t tmpfs -o size=" + size +
                           " tmpfs disk && \"$INGOT\" train recipe.toml --set data.train=text.txt "
                           "--set checkpoint.dir=disk/runs/x " +
                           more + "; code=$?; ls disk; exit $code"));
  };
  for (const std::string more : {"", "--dry-run"}) {
    const Outcome refused = on_small_disk("700k", more);
    EXPECT_EQ(refused.code, 1) << refused.err;
    EXPECT_TRUE(contains(refused.err, "840960 bytes")) << refused.err;
    EXPECT_TRUE(contains(refused.err, "716800 bytes")) << refused.err;
    EXPECT_FALSE(contains(refused.out, "runs")) << refused.out;
  }
  const Outcome taken = on_small_disk("2m", "--set checkpoint.keep=1 --set checkpoint.every=1");
  EXPECT_EQ(taken.code, 0) << taken.err;
}

TEST_F(RunStartTrap, AResumeThatFindsNoRunSaysSo) {
  const std::string start_anew = "no run in " + path("typo") + ", starting at step 0";
  const Outcome dry = train("typo", {}, {"--resume", "--dry-run"});
  EXPECT_TRUE(contains(dry.out, start_anew)) << dry.out;
  const Outcome run = train("typo", {}, {"--resume"});
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_TRUE(contains(run.err, start_anew)) << run.err;
  const Outcome again = train("typo", {"train.steps=8"}, {"--resume"});
  EXPECT_FALSE(contains(again.err, "starting at step 0")) << again.err;
  expect_refused(ingot({"train", "--resume", path("nowhere")}),
                 "no run in " + path("nowhere") + ", and no recipe");
}

TEST_F(RunStartTrap, FewerStepsThanARunHasBehindItAreRefused) {
  ASSERT_EQ(train("run").code, 0);
  const std::string before = slurp(path("run/run.toml")), ledger = slurp(path("run/ledger.jsonl"));
  for (const std::string set : {"train.steps=3", "train.total_tokens=100"})
    expect_refused(ingot({"train", "--resume", path("run"), "--set", set}),
                   "6 steps and 192 tokens behind it");
  EXPECT_TRUE(slurp(path("run/run.toml")) == before);
  EXPECT_TRUE(slurp(path("run/ledger.jsonl")) == ledger);
}

TEST_F(RunStartTrap, ARunWithoutAFolderIsRefused) {
  const Outcome refused =
      shell("\"$INGOT\" train recipe.toml --set data.train=text.txt --set checkpoint.dir=");
  expect_refused(refused, "checkpoint.dir is empty");
  EXPECT_FALSE(fs::exists(root_ / "ledger.jsonl"));
}

TEST_F(RunStartTrap, WithNothingHeldOutNothingIsValidated) {
  const Args sets = {"data.valid_fraction=0", "train.eval_every=2"};
  const Outcome run = train("run", sets, {"--json"});
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(times(run.err, "valid    none, since data.valid_fraction is 0"), 1u) << run.err;
  EXPECT_FALSE(contains(run.out, "valid")) << run.out;
  EXPECT_TRUE(records("run", "eval").empty());
  // The bytes of the text, and the separator after it.
  EXPECT_EQ(records("run", "start").at(0).at("data").at("sources").at(0).at("tokens"),
            fs::file_size(path("text.txt")) + 1);
  const Outcome resumed = train("run", with(sets, {"train.steps=8"}), {"--resume"});
  EXPECT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_TRUE(records("run", "eval").empty());
}

TEST_F(RunStartTrap, SmokeRemovesTheFoldersItMade) {
  fs::create_directories(root_ / "mine");
  for (const std::string dir : {"new/and/deep", "mine/more"}) {
    const Outcome smoke = ingot({"smoke", "-n", "1", "--dir", path(dir)});
    EXPECT_EQ(smoke.code, 0) << smoke.err;
  }
  EXPECT_FALSE(fs::exists(root_ / "new"));
  EXPECT_TRUE(fs::is_empty(root_ / "mine"));
}

// A byte-level BPE tokenizer of 280 ids, of a text of its own.
class InitTokenizerTrap : public RunStartTrap {
 protected:
  void make_tokenizer(const std::string& name, const std::string& text) const {
    write(name + ".txt", text);
    const Outcome made = ingot({"tokenizer", "train", "--input", path(name + ".txt"), "--out",
                                path(name + ".json"), "--vocab", "280"});
    ASSERT_EQ(made.code, 0) << made.err;
  }
  Args from_init(const std::string& tokenizer, const Args& more = {}) const {
    return with({"train.init=" + path("first"), "data.tokenizer=" + path(tokenizer), "preset=none"},
                more);
  }
};

TEST_F(InitTokenizerTrap, AnotherTokenizerThanThatOfTrainInitIsRefused) {
  make_tokenizer("mine", slurp(path("text.txt")));
  std::string other;
  for (int i = 0; i < 500; ++i) other += "abracadabra " + std::to_string(i * 7919) + " xyzzy\n";
  make_tokenizer("other", other);
  ASSERT_EQ(train("first", {"data.tokenizer=" + path("mine.json"), "model.vocab=300"}).code, 0);
  expect_refused(train("run", from_init("other.json")), "--set train.other_tokenizer=true");
  expect_refused(train("run", from_init("other.json", {"data.tokenizer=byte"})),
                 "data.tokenizer byte is not the tokenizer");
  EXPECT_FALSE(fs::exists(root_ / "run"));
  const Outcome accepted =
      train("accepted", from_init("other.json", {"train.other_tokenizer=true"}));
  EXPECT_EQ(accepted.code, 0) << accepted.err;
  EXPECT_TRUE(contains(slurp(path("accepted/run.toml")), "other_tokenizer = true\n"));

  Json more = Json::parse(slurp(path("mine.json")));
  more["added_tokens"].push_back({{"id", 280},
                                  {"content", "<|user|>"},
                                  {"special", true},
                                  {"single_word", false},
                                  {"lstrip", false},
                                  {"rstrip", false},
                                  {"normalized", false}});
  write("more.json", more.dump());
  const Outcome same = train("same", from_init("more.json"));
  EXPECT_EQ(same.code, 0) << same.err;
}

TEST_F(InitTokenizerTrap, AResumeDoesNotNeedTheFolderOfTrainInit) {
  make_tokenizer("mine", slurp(path("text.txt")));
  ASSERT_EQ(
      train("first", {"data.tokenizer=" + path("mine.json"), "model.vocab=300", "model.layers=1"})
          .code,
      0);
  const Args sets = {"train.init=" + path("first"), "preset=none"};
  ASSERT_EQ(train("run", sets).code, 0);
  fs::remove_all(root_ / "first");
  const Outcome resumed = train("run", with(sets, {"train.steps=8"}), {"--resume"});
  EXPECT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_EQ(records("run", "start").back().at("step"), 6);
}

TEST_F(RunStartTrap, KeyAndValueHeadsFollowTheHeads) {
  const auto show = [&](const Args& sets) {
    Args args = {"config", "show"};
    for (const std::string& set : sets) args.insert(args.end(), {"--set", set});
    return ingot(args);
  };
  const std::string preset = "preset=smollm2_135m";  // 9 heads, 3 for keys and values
  const Outcome follows = show({preset, "model.heads=12", "model.dim=768"});
  EXPECT_TRUE(contains(follows.out, "\nkv_heads = 4\n")) << follows.out << follows.err;
  const Outcome given = show({preset, "model.heads=12", "model.dim=768", "model.kv_heads=3"});
  EXPECT_TRUE(contains(given.out, "\nkv_heads = 3\n")) << given.out << given.err;
  expect_refused(show({preset, "model.heads=8", "model.dim=768"}), "or set model.kv_heads");
}

TEST_F(RunStartTrap, AValidationLeftForASignalIsMadeUpFor) {
  std::string text;
  for (int i = 0; i < 1'000'000; ++i) text += "Line " + std::to_string(i) + " of the text.\n";
  write("long.txt", text);
  // A validation takes minutes; that of a resume need not.
  const Args sets = {"data.valid=" + path("long.txt"), "train.eval_every=2",
                     "train.eval_tokens=20000000", "train.log_every=1"};
  EXPECT_EQ(signalled_at("step 2/", "TERM", train_args("run", sets)), 3);
  EXPECT_TRUE(records("run", "eval").empty());
  const Outcome resumed =
      train("run", with(sets, {"train.eval_tokens=64", "train.steps=3"}), {"--resume"});
  ASSERT_EQ(resumed.code, 0) << resumed.err;
  std::vector<int64_t> steps;
  for (const Json& record : records("run", "eval")) steps.push_back(record.at("step"));
  EXPECT_EQ(steps, (std::vector<int64_t>{2, 3}));
}

// Where nothing says batch.tokens, it is what all ranks take at once: of a resume, as it was.
TEST_F(RunStartTrap, AResumeTakesStepsOfTheSameTokensByAnotherMicroBatchOrOnMoreRanks) {
  ASSERT_EQ(train("whole").code, 0);
  const Args halves = {"batch.micro_batch=1"};
  for (const std::string run : {"by folder", "by recipe", "on ranks"})
    ASSERT_EQ(train(run, {"train.steps=3"}).code, 0);
  const Outcome by_folder = ingot({"train", "--resume", path("by folder"), "--set", "train.steps=6",
                                   "--set", "batch.micro_batch=1"});
  EXPECT_EQ(by_folder.code, 0) << by_folder.err;
  EXPECT_EQ(train("by recipe", halves, {"--resume"}).code, 0);
  const Outcome on_ranks =
      ingot(with({"launch", "-n", "2", "--"}, with(train_args("on ranks", halves), {"--resume"})));
  EXPECT_EQ(on_ranks.code, 0) << on_ranks.err;
  const auto expected = losses("whole");
  ASSERT_EQ(expected.size(), 6u);
  for (const std::string run : {"by folder", "by recipe", "on ranks"}) {
    const auto found = losses(run);
    ASSERT_EQ(found.size(), 6u) << run;
    for (const auto& [step, loss] : expected) EXPECT_NEAR(found.at(step), loss, 1e-4) << run;
  }
  expect_refused(train("by recipe", {"train.steps=8", "batch.micro_batch=4"}, {"--resume"}),
                 "batch.micro_batch = 2 keeps it");
}

TEST_F(RunStartTrap, AResumeBySequencesOfAnotherLengthIsToldOfThem) {
  ASSERT_EQ(train("run").code, 0);
  // With micro-batches of 1, a step of 32 tokens is one sequence: of one rank, but not of two.
  for (const auto& [seq, micro_batch, said] : {std::tuple{"12", "2", "batch.seq (was 16, is 12)"},
                                               {"32", "2", "batch.seq (was 16, is 32)"},
                                               {"8", "2", "batch.seq (was 16, is 8)"},
                                               {"32", "1", "batch.seq (was 16, is 32)"}}) {
    const Args sets = {std::string("batch.seq=") + seq,
                       std::string("batch.micro_batch=") + micro_batch};
    const Args resume = {"train", "--resume", path("run"), "--set", sets[0], "--set", sets[1]};
    for (const Outcome& outcome :
         {ingot(resume), train("run", sets, {"--resume"}),
          ingot(with({"launch", "-n", "2", "--"}, resume)),
          ingot(with({"launch", "-n", "2", "--"}, with(train_args("run", sets), {"--resume"})))}) {
      expect_refused(outcome, said);
      EXPECT_FALSE(contains(outcome.err, "batch.tokens")) << outcome.err;
    }
  }
}

}  // namespace
}  // namespace ingot::test
