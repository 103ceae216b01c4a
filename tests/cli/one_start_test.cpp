// From main to the first step: settings are checked once, a run is decided and prepared once, and
// what a checkpoint says of itself is read once, whoever asks for it.
#include <sstream>

#include "cli/ranks_fixture.h"
#include "support/source_path.h"

namespace ingot::test {
namespace {

class OneStart : public RanksFixture {
 protected:
  void SetUp() override {
    RanksFixture::SetUp();
    const Outcome first = ingot(train_args("run", kFour));
    ASSERT_EQ(first.code, 0) << first.err;
  }

  // With what -v says on the way.
  Outcome verbose(const Args& args) const { return ingot(with(args, {"-v"})); }
  static int times(const std::string& what, const Outcome& outcome) {
    std::istringstream lines(outcome.err);
    int found = 0;
    for (std::string line; std::getline(lines, line);)
      if (line.find(what) != std::string::npos) ++found;
    return found;
  }
  // `processes`: of which each makes its own start. `steps`: that the run has at the end.
  void expect_one_start(const std::string& name, const Args& args, int processes, int64_t steps,
                        const std::string& manifest) const {
    const Outcome outcome = verbose(args);
    EXPECT_EQ(outcome.code, 0) << name << ": " << outcome.err;
    EXPECT_EQ(times("settings_checked", outcome), processes) << name << ": " << outcome.err;
    EXPECT_EQ(times("run_resolved", outcome), processes) << name;
    EXPECT_EQ(times("run_prepared", outcome), processes) << name;
    EXPECT_EQ(times("vocabulary_checked", outcome), processes) << name;
    EXPECT_EQ(times(manifest, outcome), processes) << name << ": " << outcome.err;
    EXPECT_EQ(last_step("run"), steps) << name;
  }

  static inline const Args kFour = {"train.steps=4", "system.device=cpu", "batch.tokens=64"};
};

std::string manifest_of_step(int step) {
  return "step_0000000" + std::to_string(step) + "/manifest.json";
}

TEST_F(OneStart, OfAResumeHoweverItIsAskedFor) {
  Args sets = kFour;
  const auto resumed = [&](const std::string& steps, const Args& more) {
    sets[0] = "train.steps=" + steps;
    return with(train_args("run", with(sets, more)), {"--resume"});
  };
  expect_one_start("a dry run", with(resumed("5", {}), {"--dry-run"}), 1, 4, manifest_of_step(4));
  expect_one_start("a recipe", resumed("5", {}), 1, 5, manifest_of_step(4));
  expect_one_start("a folder", {"train", "--resume", path("run"), "--set", "train.steps=6"}, 1, 6,
                   manifest_of_step(5));
  expect_one_start("threads", resumed("7", {"system.ranks=2"}), 1, 7, manifest_of_step(6));
  const Args launched = with({"launch", "-n", "2", "--"}, resumed("8", {}));
  expect_one_start("a dry run of processes", with(launched, {"--dry-run"}), 2, 7,
                   manifest_of_step(7));
  expect_one_start("processes", launched, 2, 8, manifest_of_step(7));
}

// An older program's run, whose settings are those of its checkpoint.
TEST_F(OneStart, OfAResumeWithoutRunToml) {
  const auto resumed = [&](const std::string& steps) {
    std::filesystem::remove(path("run/run.toml"));
    return Args{"train", "--resume", path("run"), "--set", "train.steps=" + steps};
  };
  expect_one_start("a folder", resumed("5"), 1, 5, manifest_of_step(4));
  Args sets = kFour;
  sets[0] = "train.steps=6";
  std::filesystem::remove(path("run/run.toml"));
  expect_one_start("a recipe", with(train_args("run", sets), {"--resume"}), 1, 6,
                   manifest_of_step(5));
  expect_one_start("processes", with({"launch", "-n", "2", "--"}, resumed("7")), 2, 7,
                   manifest_of_step(6));
}

TEST_F(OneStart, SettingsThatAreShownAreCheckedOnce) {
  for (const bool with_end : {true, false}) {
    Args args = {"config", "show"};
    if (with_end) {
      write("end.toml", "[train]\nsteps = 4\n");
      args.push_back(path("end.toml"));
    }
    const Outcome shown = verbose(with(args, {"--set", "system.device=cpu"}));
    EXPECT_EQ(shown.code, 0) << shown.err;
    EXPECT_EQ(times("settings_checked", shown), 1) << shown.err;
  }
}

TEST_F(OneStart, OfARunThatBeginsWithAnothersWeights) {
  const Args sets = {"train.init=" + path("run"), "preset=none", "train.steps=1"};
  const Outcome outcome = verbose(train_args("tuned", sets));
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(times("settings_checked", outcome), 1) << outcome.err;
  EXPECT_EQ(times("run_prepared", outcome), 1);
  EXPECT_EQ(times("vocabulary_checked", outcome), 1);
  EXPECT_EQ(times(manifest_of_step(4), outcome), 1) << outcome.err;
}

TEST_F(OneStart, ChecksTheVocabularyOnceForAllData) {
  write("more.txt", std::string(2000, 'a'));
  std::string sources;
  for (const char* name : {"text.txt", "more.txt"})
    sources += "[[source]]\npath = \"" + path(name) + "\"\nweight = 1\n";
  write("mixture.toml", sources);
  write("held_out.txt", "Held out text is of the same tokenizer.\n");
  const Outcome outcome =
      verbose(with(train_args("other", {"data.train=" + path("mixture.toml"), "train.steps=1",
                                        "data.valid=" + path("held_out.txt")}),
                   {"--dry-run"}));
  EXPECT_EQ(times("vocabulary_checked", outcome), 1) << outcome.err;
}

TEST_F(OneStart, OfAnImportChecksTheVocabularyOnce) {
  const std::string model = testing_support::source_path("tests/golden/hf/llama");
  const Outcome imported = verbose({"checkpoint", "import", model, "--out", path("model")});
  EXPECT_EQ(imported.code, 0) << imported.err;
  EXPECT_EQ(times("vocabulary_checked", imported), 1) << imported.err;
}

// Settings and numbers are of one checkpoint, chosen by one rule: the newest good one.
TEST_F(OneStart, ADamagedCheckpointOfTrainInitIsPassedOverForSettingsToo) {
  Args six = kFour;
  six[0] = "train.steps=6";
  ASSERT_EQ(ingot(with(train_args("run", six), {"--resume"})).code, 0);
  write("run/step_00000006/manifest.json", "{}");
  const Args sets = {"train.init=" + path("run"), "preset=none", "train.steps=1"};
  const Outcome outcome = ingot(train_args("tuned", sets));
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_NE(outcome.err.find("checkpoint_passed_over"), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.err.find("step_00000006"), std::string::npos) << outcome.err;
}

}  // namespace
}  // namespace ingot::test
