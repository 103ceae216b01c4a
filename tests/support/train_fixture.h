// Short runs on a small text, for the tests of the trainer on any device.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <map>

#include "parallel/comm/world.h"
#include "plan/resolve.h"
#include "support/own_folder.h"
#include "support/resident_bytes.h"
#include "train/trainer.h"

namespace ingot::test {

namespace fs = std::filesystem;

// A run folder of its own for each test, and a text with enough structure to be learnt.
class TrainFixture : public ::testing::Test {
 protected:
  void SetUp() override {
    root_ = testing_support::own_folder();
    fs::create_directories(root_);
    std::ofstream text(root_ / "text.txt");
    for (int i = 0; i < 2000; ++i) text << "line " << i << " follows line " << i - 1 << ".\n";
  }
  void TearDown() override { fs::remove_all(root_); }

  RunConfig config(const std::string& name, int64_t steps, Overrides more = {}) const {
    Overrides overrides = {{"preset", "llama_test"},
                           {"data.train", (root_ / "text.txt").string()},
                           {"batch.micro_batch", "2"},
                           {"batch.seq", "16"},
                           {"batch.tokens", "128"},
                           {"train.steps", std::to_string(steps)},
                           {"train.eval_tokens", "512"},
                           {"optim.lr", "3e-3"},
                           {"optim.schedule.warmup", "2"},
                           {"optim.schedule.unit", "steps"},
                           {"checkpoint.dir", (root_ / name).string()},
                           {"system.device", "cpu"},
                           {"system.threads", "2"}};
    for (auto& item : more) overrides.push_back(std::move(item));
    return parse_run_config("", "test", overrides);
  }

  fs::path root_;
};

struct Recorder : Sink {
  std::map<int64_t, double> losses;  // by step; a repeated step overwrites
  std::atomic<bool> stop{false};
  int64_t stop_after = 0;
  std::map<int64_t, int64_t> resident;
  void take(const RunRecord& record) override {
    const auto* report = std::get_if<StepReport>(&record);
    if (report == nullptr) return;
    losses[report->step] = report->loss;
    if (report->step % 500 == 0) resident[report->step] = testing_support::resident_bytes();
    if (report->step == stop_after) stop = true;
  }
};

// system.ranks threads of the test.
inline std::unique_ptr<RankLauncher> local_ranks(const ResolvedRun& run) {
  return rank_launcher({.world = static_cast<int>(run.config.system.ranks),
                        .device = run.place.device,
                        .rendezvous = ""});
}

inline TrainResult train_locally(const RunConfig& config, TrainOptions options,
                                 const std::shared_ptr<Storage>& storage = posix_storage()) {
  const ResolvedRun resolved = resolve_here(config);
  const auto ranks = local_ranks(resolved);
  options.ranks = ranks.get();
  return train(storage, resolved, options);
}

inline TrainResult run(const RunConfig& config, Recorder& recorder, bool resume = false) {
  TrainOptions options;
  options.sinks = {&recorder};
  options.stop = &recorder.stop;
  options.resume = resume;
  return train_locally(config, options);
}

}  // namespace ingot::test
