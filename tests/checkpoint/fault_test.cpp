#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "checkpoint/fixture.h"
#include "core/error/error.h"
#include "support/forwarding_storage.h"

namespace ingot::checkpoint_test {
namespace {

// The newest checkpoint, which is good.
std::string sound_newest(const std::shared_ptr<Storage>& storage) {
  CheckpointChoice choice(storage, kRun);
  const CheckpointReader* good = choice.good();
  for (const auto& [dir, why] : choice.passed_over()) ADD_FAILURE() << dir << ": " << why;
  return good != nullptr ? good->info().dir : "";
}

// Saves `step` under a power cut after every possible number of operations. Whatever is visible
// then must be whole; the newest must be one of `acceptable`; and the run must go on.
void cut_everywhere(const std::function<void(Storage&)>& before, int64_t step, int ranks,
                    const std::function<void(const std::shared_ptr<Storage>&)>& expect_sound) {
  for (const bool forget : {false, true}) {
    bool finished = false;
    int64_t cut = 0;
    for (; !finished; ++cut) {
      SCOPED_TRACE("cut after " + std::to_string(cut) + " operations");
      const auto base = empty_run();
      before(*base);
      const auto faulty =
          faulty_storage(base, {.operations_before_cut = cut, .forget_unsynced_entries = forget});
      try {
        save(*faulty, step, ranks);
        finished = true;
      } catch (const Error&) {
      }
      expect_sound(base);
      if (finished) {
        EXPECT_EQ(CheckpointReader(base, list_checkpoints(*base, kRun).back()).info().state.step,
                  step);
      }
      // The next process cleans up and saves again.
      retain_checkpoints(base, kRun, 2);
      save(*base, step + 1, ranks);
      expect_loads(base, step_dir(step + 1), step + 1);
      retain_checkpoints(base, kRun, 1);
      EXPECT_EQ(base->list(kRun),
                (std::vector<std::string>{"step_0000000" + std::to_string(step + 1)}));
    }
    EXPECT_GT(cut, 10) << "the save was hardly disturbed";
  }
}

TEST(CheckpointFault, APowerCutAnywhereLeavesTheOldOrTheNewCheckpoint) {
  for (const int ranks : {1, 2}) {
    cut_everywhere([&](Storage& storage) { save(storage, 1); }, 2, ranks,
                   [](const std::shared_ptr<Storage>& base) {
                     const std::string good = sound_newest(base);
                     ASSERT_FALSE(good.empty());
                     const int64_t step = CheckpointReader(base, good).info().state.step;
                     ASSERT_TRUE(step == 1 || step == 2);
                     expect_loads(base, good, step);
                     expect_loads(base, step_dir(1), 1);
                   });
  }
}

TEST(CheckpointFault, APowerCutWhileAStepIsSavedAgainLeavesOneOfTheTwo) {
  cut_everywhere([](Storage& storage) { save(storage, 2); }, 2, 1,
                 [](const std::shared_ptr<Storage>& base) {
                   const std::string good = sound_newest(base);
                   ASSERT_FALSE(good.empty());
                   expect_loads(base, good, 2);
                 });
}

// Refuses to create files whose path contains `name`.
class Picky : public test::ForwardingStorage {
 public:
  Picky(std::shared_ptr<Storage> base, std::string name)
      : ForwardingStorage(std::move(base)), name_(std::move(name)) {}
  std::unique_ptr<WritableFile> create(const std::string& path) override {
    check(path.find(name_) == std::string::npos, ErrorCode::Storage, "cannot write '{}'", path);
    return base_->create(path);
  }

 private:
  std::string name_;
};

TEST(CheckpointFault, WhenOneRankFailsAllThrowAndNothingIsLeft) {
  for (const std::string bad : {"rank_0", "rank_2", "manifest.json", "tokenizer.bin"}) {
    const auto base = empty_run();
    overwrite(*base, "tok", "x");
    save(*base, 1);
    Picky picky(base, bad);
    std::atomic<int> thrown{0};
    std::atomic<int> own{0};
    run_local_ranks(4, Device::cpu(), [&](World& world) {
      Rank rank(world, DataParallel::FullySharded);
      rank.fill(2);
      try {
        save_checkpoint(picky, world.control(), kRun, RunConfig{}, state_of(2), rank.parameters,
                        *rank.store, {.tokenizer = "tok"});
      } catch (const Error& error) {
        ++thrown;
        if (error.code() == ErrorCode::Storage) ++own;
      }
    });
    EXPECT_EQ(thrown, 4) << bad;
    EXPECT_EQ(own, 1) << bad << ": the others must say that another rank failed";
    EXPECT_EQ(base->list(kRun), (std::vector<std::string>{"step_00000001"})) << bad;
    expect_loads(base, step_dir(1), 1);
  }
}

TEST(CheckpointFault, EveryDamagedFileIsFoundAndPassedOver) {
  const auto storage = empty_run();
  save(*storage, 1, 1, DataParallel::Replicated, "tokens");
  save(*storage, 2, 2, DataParallel::Replicated, "tokens");
  for (const std::string& name : storage->list(step_dir(2))) {
    const std::string path = step_dir(2) + "/" + name;
    const std::string sound = read_text(*storage, path);
    const auto expect_passed_over = [&](const std::string& how) {
      CheckpointChoice choice(storage, kRun);
      ASSERT_NE(choice.good(), nullptr) << name << " " << how;
      EXPECT_EQ(choice.good()->info().dir, step_dir(1)) << name << " " << how;
      ASSERT_EQ(choice.passed_over().size(), 1u) << name << " " << how;
      EXPECT_EQ(choice.passed_over()[0].dir, step_dir(2)) << name << " " << how;
      EXPECT_NE(choice.passed_over()[0].why.find(name), std::string::npos)
          << choice.passed_over()[0].why;
    };
    for (const size_t at : {size_t{0}, sound.size() / 2, sound.size() - 2}) {
      flip_byte(*storage, path, at);
      expect_passed_over("flipped");
      overwrite(*storage, path, sound);
    }
    storage->truncate(path, static_cast<int64_t>(sound.size()) - 1);
    // A manifest's last byte is a newline; without it the JSON is still whole.
    if (name != "manifest.json") expect_passed_over("cut");
    overwrite(*storage, path, sound + "x");
    expect_passed_over("longer");
    if (name != "manifest.json") {
      storage->remove(path);
      expect_passed_over("missing");
    }
    overwrite(*storage, path, sound);
  }
  EXPECT_EQ(sound_newest(storage), step_dir(2));
}

TEST(CheckpointFault, AManifestCutAnywhereIsDamagedNotACrash) {
  const auto storage = empty_run();
  save(*storage, 1);
  const std::string path = step_dir(1) + "/manifest.json";
  const std::string sound = read_text(*storage, path);
  for (size_t length = 0; length + 1 < sound.size(); length += 7) {
    overwrite(*storage, path, sound.substr(0, length));
    try {
      const CheckpointReader reader(storage, step_dir(1));
      ADD_FAILURE() << "accepted " << length << " bytes";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::Data);
    }
  }
}

TEST(CheckpointFault, ReadingADamagedRankFileIsADataErrorNotACrash) {
  const auto storage = empty_run();
  save(*storage, 1);
  const std::string path = step_dir(1) + "/rank_0.safetensors";
  const std::string sound = read_text(*storage, path);
  for (size_t length = 0; length < sound.size(); length += 5) {
    overwrite(*storage, path, sound.substr(0, length));
    EXPECT_THROW(expect_loads(storage, step_dir(1), 1), Error) << length;
  }
  for (size_t at = 0; at < 8; ++at) {  // the header's length
    std::string damaged = sound;
    damaged[at] = static_cast<char>(0xff);
    overwrite(*storage, path, damaged);
    EXPECT_THROW(expect_loads(storage, step_dir(1), 1), Error) << at;
  }
}

}  // namespace
}  // namespace ingot::checkpoint_test
