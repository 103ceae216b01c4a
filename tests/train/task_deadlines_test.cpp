// Saves and validations have deadlines of their own.
#include <gtest/gtest.h>

#include <latch>
#include <nlohmann/json.hpp>

#include "core/error/error.h"
#include "support/forwarding_storage.h"
#include "support/train_fixture.h"
#include "train/step/evaluate.h"

namespace ingot {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;

// A disk that keeps rank 1 waiting until rank 0 has said what it thinks of that.
class StuckDisk final : public test::ForwardingStorage {
 public:
  explicit StuckDisk(std::latch& told) : ForwardingStorage(posix_storage()), told_(told) {}
  std::unique_ptr<WritableFile> create(const std::string& path) override {
    if (path.ends_with("rank_1.safetensors")) told_.wait();
    return ForwardingStorage::create(path);
  }

 private:
  std::latch& told_;
};

// Two threads, of which the error of rank 0 is told while rank 1 still runs.
class WatchedRanks final : public RankLauncher {
 public:
  WatchedRanks(const LocalOptions& options, std::function<void(const Error&)> tell)
      : options_(options), tell_(std::move(tell)) {}

 private:
  void start(const Body& body) override {
    const auto watched = [&](World& world) {
      try {
        body(world);
      } catch (const Error& error) {
        if (world.rank() == 0) tell_(error);
        throw;
      }
    };
    run_local_ranks(2, Device::cpu(), watched, options_);
  }

  LocalOptions options_;
  std::function<void(const Error&)> tell_;
};

class TaskDeadlines : public test::TrainFixture {
 protected:
  RunConfig two_ranks(const std::string& name, Overrides more = {}) const {
    more.push_back({"system.ranks", "2"});
    more.push_back({"checkpoint.every", "2"});
    return config(name, 4, std::move(more));
  }
};

TEST_F(TaskDeadlines, ASaveThatARankDoesNotComeToSaysSo) {
  std::latch told(1);
  const auto storage = std::make_shared<StuckDisk>(told);
  const ResolvedRun resolved = resolve_here(two_ranks("run"));
  const LocalOptions limits{.deadlines = {.collective = minutes(5),
                                          .save = milliseconds(1500),
                                          .validation = minutes(5)}};
  std::string text;
  TrainOptions options;
  WatchedRanks ranks(limits, [&](const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::Comm);
    EXPECT_EQ(error.rank(), 1);
    text = error.what();
    told.count_down();
  });
  options.ranks = &ranks;
  EXPECT_THROW(train(storage, resolved, options), Error);
  EXPECT_NE(text.find("writing a checkpoint #"), std::string::npos) << text;
  EXPECT_NE(text.find(" among 0,1 at step 2: waited 1.5 s for rank 1; rank 1: step 2, "),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("after start of a checkpoint #"), std::string::npos) << text;
  EXPECT_TRUE(list_checkpoints(*storage, resolved.config.checkpoint.dir).empty());
}

TEST_F(TaskDeadlines, AValidationThatARankDoesNotComeToSaysSo) {
  const RunConfig run = two_ranks("run");
  const RunData data = open_run_data(*posix_storage(), run);
  const ResolvedRun resolved = resolve_here(run);
  std::latch told(1);
  const auto body = [&](World& world) {
    Engine engine(resolved, world);
    engine.init(1);
    world.control().barrier("begin");
    if (world.rank() == 1) return told.wait();
    try {
      evaluate_loss(engine, world.control(), *data.valid, resolved, nullptr, milliseconds(100));
      ADD_FAILURE() << "rank 0 went on";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::Comm);
      EXPECT_EQ(error.rank(), 1);
      const std::string what = error.what();
      EXPECT_EQ(what.find("validation #2 among 0,1 at step 0: waited 0.1 s for rank 1"), 0u)
          << what;
      told.count_down();
      throw;
    }
  };
  EXPECT_THROW(run_local_ranks(2, Device::cpu(), body), Error);
}

}  // namespace
}  // namespace ingot
