// Run folders and checkpoints: docs/traps.md.
#include <unistd.h>

#include <memory>
#include <set>

#include "core/storage/storage.h"
#include "support/ledger_contents.h"
#include "support/tokenizer_formats.h"
#include "tokenizer/llama2c_file.h"
#include "traps/trap.h"

namespace ingot::test {
namespace {

std::string host_name() {
  char name[256] = {};
  gethostname(name, sizeof(name) - 1);
  return name;
}

class RunFolderTrap : public Trap {
 protected:
  // A run that only a signal ends, with output in a folder of its own.
  std::unique_ptr<Process> start(const std::string& name, const Args& args) const {
    fs::create_directories(root_ / name);
    return std::make_unique<Process>(args, root_ / name);
  }
  Args endless(const std::string& run, Args sets = {}) const {
    sets.push_back("train.steps=10000000");
    return train_args(run, sets);
  }
  bool wait_for_steps(const std::string& run) const {
    return comes_true([&] { return contains(slurp(path(run + "/ledger.jsonl")), "\"step\""); });
  }

  void train(const std::string& run, const Args& sets = {}) const {
    const Outcome outcome = ingot(train_args(run, sets));
    ASSERT_EQ(outcome.code, 0) << outcome.err;
  }
  void run_quietly(const Args& args) const {
    const Outcome outcome = ingot(args);
    ASSERT_EQ(outcome.code, 0) << outcome.err;
  }

  void damage(const std::string& name) const {
    std::string contents = slurp(root_ / name);
    ASSERT_FALSE(contents.empty()) << name;
    contents[contents.size() / 2] ^= 1;
    write(name, contents);
  }
  std::set<std::string> names_in(const std::string& folder) const {
    std::set<std::string> names;
    for (const auto& entry : fs::directory_iterator(root_ / folder))
      if (const std::string name = entry.path().filename(); !name.starts_with('.'))
        names.insert(name);
    return names;
  }
};

class TokenizerOfRunTrap : public Trap, public ::testing::WithParamInterface<std::string> {};

TEST_P(TokenizerOfRunTrap, GoesThroughTrainResumeAndGenerate) {
  expect_tokenizer_travels(GetParam(), root_, "text.txt", train_args("run"));
}

INSTANTIATE_TEST_SUITE_P(Formats, TokenizerOfRunTrap,
                         ::testing::ValuesIn(kTokenizersOfSeveralFiles), format_name);

TEST_F(RunFolderTrap, AFolderInUseIsRefusedWithItsOwnerUntilThatIsGone) {
  const auto first = start("first", endless("run"));
  ASSERT_TRUE(wait_for_steps("run"));
  for (const Args& more : {Args{}, Args{"--resume"}}) {
    const Outcome second = ingot(with(train_args("run"), more));
    EXPECT_EQ(second.code, 1);
    EXPECT_TRUE(contains(second.err, "in use by process ")) << second.err;
    EXPECT_TRUE(contains(second.err, "on host " + host_name() + ", since 20")) << second.err;
    EXPECT_TRUE(contains(second.err, "checkpoint.dir")) << second.err;
  }
  EXPECT_TRUE(first->is_running());
  first->signal(SIGKILL);
  first->wait();
  train("run");
  EXPECT_FALSE(fs::exists(root_ / "run/owner.json"));
}

TEST_F(RunFolderTrap, OfFourRunsBegunAtOnceInANewFolderOneRuns) {
  std::vector<std::unique_ptr<Process>> all;
  for (int i = 0; i < 4; ++i) all.push_back(start("out" + std::to_string(i), endless("run")));
  const auto num_running = [&] {
    return std::count_if(all.begin(), all.end(), [](const auto& p) { return p->is_running(); });
  };
  EXPECT_TRUE(comes_true([&] { return num_running() <= 1; }));
  EXPECT_TRUE(wait_for_steps("run"));
  EXPECT_EQ(num_running(), 1);
}

TEST_F(RunFolderTrap, OfFourResumesAtOnceOneRunsAndTheLedgerStaysWhole) {
  train("run");
  std::vector<std::unique_ptr<Process>> all;
  for (int i = 0; i < 4; ++i)
    all.push_back(start("out" + std::to_string(i), with(endless("run"), {"--resume"})));
  std::vector<Process*> running;
  const auto one_is_left = [&] {
    running.clear();
    for (const auto& process : all)
      if (process->is_running()) running.push_back(process.get());
    return running.size() <= 1;
  };
  EXPECT_TRUE(comes_true(one_is_left));
  ASSERT_EQ(running.size(), 1U);
  EXPECT_TRUE(comes_true([&] { return contains(slurp(path("run/ledger.jsonl")), "\"step\":8"); }));
  running[0]->signal(SIGTERM);
  for (const auto& process : all) {
    const int code = process->wait();
    EXPECT_TRUE(process.get() == running[0] ? code == 0 || code == 3 : code == 1) << code;
  }
  const auto ledger = read_ledger(*posix_storage(), path("run/ledger.jsonl"));
  EXPECT_EQ(ledger.torn_bytes, 0);
  int64_t expected = 1;
  for (const auto& record : ledger.records)
    if (record.at("kind") == "step") {
      EXPECT_EQ(record.at("step"), expected++);
    }
}

TEST_F(RunFolderTrap, AResumeWithoutASoundCheckpointIsRefusedAndKeepsWhatIsThere) {
  for (const std::string what : {"damaged weights", "missing manifests", "missing folders"}) {
    SCOPED_TRACE(what);
    const std::string run = what.substr(0, what.find(' ')) + what.substr(what.find(' ') + 1);
    train(run, {"checkpoint.every=3"});
    for (const std::string step : {"step_00000003", "step_00000006"}) {
      if (what == "damaged weights") damage(run + "/" + step + "/rank_0.safetensors");
      if (what == "missing manifests") fs::remove(root_ / run / step / "manifest.json");
      if (what == "missing folders") fs::remove_all(root_ / run / step);
    }
    const auto before = names_in(run);
    const Outcome resumed = ingot(with(train_args(run, {"checkpoint.keep=1"}), {"--resume"}));
    EXPECT_EQ(resumed.code, 2);
    EXPECT_TRUE(contains(resumed.err, "to start anew")) << resumed.err;
    EXPECT_EQ(names_in(run), before);
  }
}

TEST_F(RunFolderTrap, AnImportDoesNotReplaceATrainedCheckpoint) {
  train("run");
  std::string model;
  for (const int32_t field : {4, 4, 1, 1, 1, 270, 4}) testing_support::append_raw(model, field);
  const size_t floats = 270 * 4 + 2 * 4 + 4 * 4 * 4 + 3 * 4 * 4 + 4 + 4 * 4;
  write("model.bin", model + std::string(floats * 4, '\0'));
  write("tok.bin", testing_support::small_llama2c_file());
  const Args import = {"checkpoint", "import", path("model.bin"), "--tokenizer", path("tok.bin")};
  run_quietly(with(import, {"--out", path("imported")}));
  const std::string step = path("run/step_00000006");
  const Outcome over = ingot(with(import, {"--out", step}));
  EXPECT_NE(over.code, 0);
  EXPECT_TRUE(contains(over.err, "checkpoint of step 6")) << over.err;
  EXPECT_TRUE(contains(ingot({"checkpoint", "show", step}).out, "with optimizer state"));
}

TEST_F(RunFolderTrap, ARunWhoseFolderIsRemovedFailsAndSaysSo) {
  const auto run = start("out", train_args("run", {"train.steps=3000", "checkpoint.every=20"}));
  ASSERT_TRUE(comes_true([&] { return fs::exists(root_ / "run/step_00000020"); }));
  fs::rename(root_ / "run", root_ / "gone");  // at once, which deleting is not
  EXPECT_EQ(run->wait(), 1);
  EXPECT_TRUE(contains(run->err(), "was removed or moved while the run wrote to it")) << run->err();
  EXPECT_FALSE(fs::exists(root_ / "run"));
}

TEST_F(RunFolderTrap, ADamagedCheckpointIsNotGeneratedFromByItsOwnPathEither) {
  train("run");
  const std::string step = "run/step_00000006";
  run_quietly({"generate", path(step), "--prompt", "Line", "--tokens", "5"});
  damage(step + "/rank_0.safetensors");
  const Outcome outcome = ingot({"generate", path(step), "--prompt", "Line", "--tokens", "5"});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_TRUE(contains(outcome.err, "checksum")) << outcome.err;
}

TEST_F(RunFolderTrap, TheTokenizerMayMoveBetweenResumes) {
  write("tok.bin", testing_support::small_llama2c_file());
  train("run", {"data.tokenizer=" + path("tok.bin"), "model.vocab=512", "train.steps=2"});
  fs::rename(root_ / "tok.bin", root_ / "moved.bin");
  const auto resume = [&](const std::string& tokenizer, const std::string& steps) {
    return ingot(with(train_args("run", {"data.tokenizer=" + path(tokenizer), "model.vocab=512",
                                         "train.steps=" + steps}),
                      {"--resume"}));
  };
  const Outcome elsewhere = resume("moved.bin", "4");
  EXPECT_EQ(elsewhere.code, 0) << elsewhere.err;
  const Outcome gone = resume("tok.bin", "6");
  EXPECT_EQ(gone.code, 0) << gone.err;
  EXPECT_TRUE(fs::exists(root_ / "run/step_00000006"));
}

TEST_F(RunFolderTrap, AnotherTokenizerUnderTheSamePathIsRefused) {
  std::string ids;
  for (int i = 0; i < 2000; ++i) testing_support::append_raw(ids, static_cast<uint16_t>(i % 250));
  write("ids.bin", ids);
  const auto args = [&](const std::string& steps) {
    return train_args("run", {"data.train=" + path("ids.bin"), "data.tokenizer=" + path("tok.bin"),
                              "model.vocab=512", "train.steps=" + steps});
  };
  write("tok.bin", testing_support::small_llama2c_file());
  run_quietly(args("2"));
  write("tok.bin", testing_support::llama2c_file({{" ", -1}, {"x", -2}}));
  const Outcome resumed = ingot(with(args("4"), {"--resume"}));
  EXPECT_EQ(resumed.code, 2);
  EXPECT_TRUE(contains(resumed.err, "tok.bin is not the tokenizer")) << resumed.err;
}

TEST_F(RunFolderTrap, ResumingNeedsTheRunFolderAlone) {
  train("run", {"train.steps=2"});
  fs::remove(root_ / "recipe.toml");
  fs::rename(root_ / "run", root_ / "moved");
  const Outcome resumed =
      ingot({"train", "--resume", path("moved"), "--set", "train.steps=4", "--json"});
  ASSERT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_TRUE(contains(resumed.out, "\"step\":4")) << resumed.out;
  const Outcome again = ingot({"train", path("moved"), "--resume"});  // by what it was told last
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_FALSE(fs::exists(root_ / "run"));

  const Outcome forgotten = ingot({"train", path("moved")});
  EXPECT_EQ(forgotten.code, 2);
  EXPECT_TRUE(contains(forgotten.err, "--resume")) << forgotten.err;
}

TEST_F(RunFolderTrap, ARunKilledBeforeItsFirstCheckpointStartsAgainFromItsFolder) {
  const auto run = start("out", endless("run"));
  ASSERT_TRUE(wait_for_steps("run"));
  run->signal(SIGKILL);
  run->wait();
  fs::remove(root_ / "recipe.toml");
  const Outcome resumed = ingot({"train", "--resume", path("run"), "--set", "train.steps=3"});
  EXPECT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_TRUE(fs::exists(root_ / "run/step_00000003"));
}

TEST_F(RunFolderTrap, ARefusedRunLeavesNoFolder) {
  const Args too_large = {"model.ffn=65536", "batch.seq=256", "batch.micro_batch=65536"};
  for (const Args& sets :
       {too_large, with(too_large, {"system.ranks=2"}), Args{"data.train=nowhere"},
        Args{"model.vocab=3"}, Args{"batch.seq=4096"}}) {
    const Outcome outcome = ingot(train_args("runs/new/x", sets));
    EXPECT_NE(outcome.code, 0) << sets[0];
    EXPECT_FALSE(fs::exists(root_ / "runs")) << outcome.err;
  }
}

}  // namespace
}  // namespace ingot::test
