// Which run it is, and which start of it: where that is said, and what it leaves alone.
#include <gtest/gtest.h>

#include "checkpoint/manifest.h"
#include "ledger/records/run_ledger.h"
#include "spec/run/run_id.h"
#include "support/ledger_contents.h"
#include "support/train_fixture.h"
#include "train/start/run_folder.h"

namespace ingot {
namespace {

using test::Recorder;

class RunIds : public test::TrainFixture {
 protected:
  RunConfig constant(const std::string& name, int64_t steps, Overrides more = {}) const {
    more.emplace_back("optim.schedule.kind", "constant");
    more.emplace_back("checkpoint.every", "2");
    return config(name, steps, std::move(more));
  }
  std::string dir(const std::string& name) const { return (root_ / name).string(); }
  std::string id(const std::string& name) const {
    const std::string path = join_path(dir(name), kRunConfigName);
    return run_id_of(read_text(*posix_storage(), path), path);
  }
  std::vector<RunEntry> entries(const std::string& name) const {
    std::vector<RunEntry> all;
    for_each_run_record(*posix_storage(), join_path(dir(name), kRunLedgerName),
                        [&](const RunEntry& entry) { all.push_back(entry); });
    return all;
  }
  std::vector<StartReport> starts(const std::string& name) const {
    std::vector<StartReport> found;
    for (const RunEntry& entry : entries(name))
      if (const auto* start = std::get_if<StartReport>(&entry.record)) found.push_back(*start);
    return found;
  }
  std::string newest(const std::string& name) const {
    return list_checkpoints(*posix_storage(), dir(name)).back();
  }
  // What a program left that knew neither ids nor times.
  void make_old(const std::string& name) const {
    const auto storage = posix_storage();
    const std::string manifest = join_path(newest(name), kManifestName);
    Manifest was = parse_manifest(read_text(*storage, manifest), manifest);
    was.state.run.clear();
    write_file_atomically(*storage, manifest, to_text(was));
    const std::string settings = join_path(dir(name), kRunConfigName);
    write_file_atomically(*storage, settings,
                          to_toml(parse_run_config(read_text(*storage, settings), settings, {})));
    const std::string path = join_path(dir(name), kRunLedgerName);
    const test::LedgerContents ledger = test::read_ledger(*storage, path);
    storage->remove(path);
    LedgerWriter writer(storage, path);
    for (nlohmann::json record : ledger.records) {
      for (const char* young : {"run", "version", "time", "start"}) record.erase(young);
      writer.append(record);
    }
  }
};

TEST_F(RunIds, AreTheSameInTheSettingsTheLedgerAndCheckpoints) {
  for (const char* ranks : {"1", "2"}) {
    const std::string name = std::string("run") + ranks;
    Recorder recorder;
    const TrainResult result = test::run(constant(name, 3, {{"system.ranks", ranks}}), recorder);
    ASSERT_EQ(id(name).size(), 32u);
    EXPECT_EQ(result.state.run, id(name));
    ASSERT_EQ(starts(name).size(), 1u);
    EXPECT_EQ(starts(name)[0].run, id(name));
    EXPECT_EQ(starts(name)[0].version, kLedgerVersion);
    for (const std::string& saved : list_checkpoints(*posix_storage(), dir(name)))
      EXPECT_EQ(CheckpointReader(posix_storage(), saved).info().state.run, id(name)) << saved;
  }
  EXPECT_NE(id("run1"), id("run2"));
}

TEST_F(RunIds, StayOverResumesWhileStartsAreCounted) {
  Recorder recorder;
  test::run(constant("run", 2), recorder);
  const std::string first = id("run");
  test::run(constant("run", 4), recorder, /*resume=*/true);
  std::filesystem::remove(root_ / "run" / kRunConfigName);
  test::run(constant("run", 6), recorder, /*resume=*/true);  // from the checkpoint
  EXPECT_EQ(id("run"), first);
  int64_t last = 0;
  for (const RunEntry& entry : entries("run")) {
    const auto* start = std::get_if<StartReport>(&entry.record);
    if (start != nullptr) {
      EXPECT_EQ(start->run, first);
      ++last;
    }
    EXPECT_EQ(entry.head.start, last);
    EXPECT_EQ(entry.head.time.value_or("").size(), 24u);  // 2026-03-01T12:00:00.250Z
  }
  EXPECT_EQ(last, 3);
}

TEST_F(RunIds, AreDrawnForAnOlderRunWhenItResumes) {
  for (const char* ranks : {"1", "2"}) {
    const std::string name = std::string("run") + ranks;
    Recorder recorder;
    test::run(constant(name, 2, {{"system.ranks", ranks}}), recorder);
    make_old(name);
    EXPECT_EQ(id(name), "");
    // It goes back to the old checkpoint once more, which has no id.
    TrainOptions options;
    options.resume = true;
    struct Back final : Policy {
      bool said = false;
      StepVerdict judge(const StepFacts&) override {
        return std::exchange(said, true) ? StepVerdict::Go : StepVerdict::RollBack;
      }
    };
    options.policies = [] {
      std::vector<std::unique_ptr<Policy>> policies;
      policies.push_back(std::make_unique<Back>());
      return policies;
    };
    test::train_locally(constant(name, 5, {{"system.ranks", ranks}}), options);
    ASSERT_EQ(id(name).size(), 32u);
    const auto all = starts(name);
    ASSERT_EQ(all.size(), 3u);
    EXPECT_FALSE(all[0].run);
    EXPECT_EQ(all[1].run, id(name));
    EXPECT_EQ(all[2].run, id(name));
    EXPECT_EQ(all[2].step, 2);
    EXPECT_EQ(entries(name).back().head.start, 2);
    EXPECT_EQ(CheckpointReader(posix_storage(), newest(name)).info().state.run, id(name));
  }
}

// Two runs of the same settings differ in their ids and times, and in nothing that is compared.
TEST_F(RunIds, AreNoPartOfHashesAndTrainNothingElse) {
  Recorder one, other;
  test::run(constant("one", 3), one);
  test::run(constant("other", 3), other);
  EXPECT_NE(id("one"), id("other"));
  EXPECT_EQ(one.losses, other.losses);
  EXPECT_EQ(starts("one")[0].config_hash, starts("other")[0].config_hash);
  EXPECT_EQ(starts("one")[0].data_hash, starts("other")[0].data_hash);
  const auto manifest = [&](const std::string& name) {
    const std::string path = join_path(newest(name), kManifestName);
    return parse_manifest(read_text(*posix_storage(), path), path);
  };
  EXPECT_EQ(manifest("one").config_hash, manifest("other").config_hash);
  EXPECT_EQ(manifest("one").files.at(0).facts.hash, manifest("other").files.at(0).facts.hash);
}

TEST_F(RunIds, OfSettingsThatAreUsedAgainAreDrawnAnew) {
  Recorder recorder;
  test::run(constant("run", 2), recorder);
  const std::string path = join_path(dir("run"), kRunConfigName);
  const RunConfig again =
      parse_run_config(read_text(*posix_storage(), path), path, {{"checkpoint.dir", dir("again")}});
  test::run(again, recorder);
  EXPECT_NE(id("again"), id("run"));
}

}  // namespace
}  // namespace ingot
