#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "checkpoint/fixture.h"
#include "checkpoint/hold.h"
#include "core/error/error.h"
#include "support/counting_storage.h"

namespace ingot::checkpoint_test {
namespace {

using Names = std::vector<std::string>;

TEST(Retention, TheNewestAreKept) {
  const auto storage = empty_run();
  for (int64_t step = 1; step <= 4; ++step) save(*storage, step);
  retain_checkpoints(storage, kRun, 2);
  EXPECT_EQ(list_checkpoints(*storage, kRun), (Names{step_dir(3), step_dir(4)}));
  EXPECT_EQ(storage->list(kRun), (Names{"step_00000003", "step_00000004"}));
  retain_checkpoints(storage, kRun, 5);
  EXPECT_EQ(storage->list(kRun).size(), 2u);
}

TEST(Retention, StepsAreOrderedAsNumbers) {
  const auto storage = empty_run();
  save(*storage, 99999999);
  save(*storage, 100000000);
  save(*storage, 5);
  const Names dirs = list_checkpoints(*storage, kRun);
  ASSERT_EQ(dirs.size(), 3u);
  EXPECT_EQ(dirs[0], step_dir(5));
  EXPECT_EQ(dirs[2], kRun + "/step_100000000");
}

TEST(Retention, WhatIsHeldStaysUntilItIsReleased) {
  const auto storage = empty_run();
  for (int64_t step = 1; step <= 4; ++step) save(*storage, step);
  {
    const CheckpointHold hold(storage, step_dir(2));
    EXPECT_TRUE(hold.is_there());
    retain_checkpoints(storage, kRun, 1);
    EXPECT_EQ(list_checkpoints(*storage, kRun), (Names{step_dir(2), step_dir(4)}));
    expect_loads(storage, step_dir(2), 2);
  }
  retain_checkpoints(storage, kRun, 1);
  EXPECT_EQ(storage->list(kRun), (Names{"step_00000004"}));
  EXPECT_FALSE(CheckpointHold(storage, step_dir(1)).is_there());
  EXPECT_EQ(storage->list(kRun), (Names{"step_00000004"}));
}

TEST(Retention, TheOnlyGoodOneIsNeverRemoved) {
  const auto storage = empty_run();
  for (int64_t step = 1; step <= 4; ++step) save(*storage, step);
  for (const int64_t step : {3, 4}) {
    flip_byte(*storage, step_dir(step) + "/rank_0.safetensors", 100);
  }
  retain_checkpoints(storage, kRun, 1);
  EXPECT_EQ(list_checkpoints(*storage, kRun), (Names{step_dir(2), step_dir(4)}));
  expect_loads(storage, step_dir(2), 2);
}

TEST(Retention, LeftoversOfACrashAreRemovedAndOtherFilesStay) {
  const auto storage = empty_run();
  save(*storage, 1);
  storage->make_directories(kRun + "/.step_00000002.tmp");
  overwrite(*storage, kRun + "/.step_00000002.tmp/rank_0.safetensors", "half");
  storage->make_directories(kRun + "/.step_00000000.trash");
  overwrite(*storage, kRun + "/run.ledger", "precious");
  storage->make_directories(kRun + "/step_notes");
  EXPECT_EQ(list_checkpoints(*storage, kRun), (Names{step_dir(1)}));
  retain_checkpoints(storage, kRun, 1);
  EXPECT_EQ(storage->list(kRun), (Names{"run.ledger", "step_00000001", "step_notes"}));
}

TEST(Retention, APowerCutAnywhereLeavesAGoodCheckpointAndNoHalves) {
  for (const bool forget : {false, true}) {
    bool finished = false;
    for (int64_t cut = 0; !finished; ++cut) {
      const auto base = empty_run();
      for (int64_t step = 1; step <= 3; ++step) save(*base, step);
      const auto faulty =
          faulty_storage(base, {.operations_before_cut = cut, .forget_unsynced_entries = forget});
      try {
        retain_checkpoints(faulty, kRun, 1);
        finished = true;
      } catch (const Error&) {
      }
      for (const std::string& dir : list_checkpoints(*base, kRun)) {
        EXPECT_NO_THROW(CheckpointReader(base, dir).verify()) << cut;
      }
      expect_loads(base, step_dir(3), 3);
    }
  }
}

TEST(Retention, KeepingNoneIsRefused) {
  const auto storage = empty_run();
  save(*storage, 1);
  EXPECT_THROW(retain_checkpoints(storage, kRun, 0), Error);
  EXPECT_NO_THROW(retain_checkpoints(storage, "no/such/run", 1));
}

std::string used(const std::shared_ptr<Storage>& storage, const std::string& path) {
  return CheckpointChoice(storage, path).use().info().dir;
}

TEST(CheckpointChoice, TakesACheckpointFolderOrARunFolder) {
  const auto storage = empty_run();
  save(*storage, 1);
  save(*storage, 2);
  EXPECT_EQ(used(storage, step_dir(1)), step_dir(1));
  EXPECT_EQ(used(storage, kRun), step_dir(2));
  flip_byte(*storage, step_dir(2) + "/rank_0.safetensors", 50);
  EXPECT_EQ(used(storage, kRun), step_dir(1));
  EXPECT_THROW(used(storage, step_dir(2)), Error);
}

// Of one that is asked for settings first and for numbers later.
TEST(CheckpointChoice, ReadsAManifestOnceAndPassesOverWhatIsNotGood) {
  const auto storage = empty_run();
  for (const int64_t step : {1, 2, 3}) save(*storage, step);
  flip_byte(*storage, step_dir(2) + "/rank_0.safetensors", 50);
  flip_byte(*storage, step_dir(3) + "/manifest.json", 50);
  const auto counting = std::make_shared<test::CountingStorage>(storage);
  CheckpointChoice choice(counting, kRun);
  EXPECT_EQ(choice.readable()->info().dir, step_dir(2));
  EXPECT_EQ(choice.good()->info().dir, step_dir(1));
  EXPECT_EQ(choice.use().info().dir, step_dir(1));
  const CheckpointReader copy = *choice.good();
  EXPECT_EQ(copy.info().state.step, 1);
  ASSERT_EQ(choice.passed_over().size(), 2u);
  EXPECT_EQ(choice.passed_over()[0].dir, step_dir(3));
  EXPECT_NE(choice.passed_over()[0].why.find("manifest.json"), std::string::npos);
  EXPECT_EQ(choice.passed_over()[1].dir, step_dir(2));
  EXPECT_NE(choice.passed_over()[1].why.find("checksum"), std::string::npos);
  for (const int64_t step : {1, 2, 3})
    EXPECT_EQ(counting->opens(step_dir(step) + "/manifest.json"), 1) << step;
}

TEST(CheckpointChoice, SaysWhatIsMissing) {
  const auto storage = empty_run();
  for (const std::string& path : {kRun, std::string("no/such")}) {
    try {
      used(storage, path);
      ADD_FAILURE() << "nothing was thrown";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::Data);
      EXPECT_NE(std::string(error.what()).find(path), std::string::npos);
    }
  }
  EXPECT_TRUE(list_checkpoints(*storage, "no/such").empty());
}

}  // namespace
}  // namespace ingot::checkpoint_test
