// The tasks of every run.
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "checkpoint/checkpoint.h"
#include "core/storage.h"
#include "train/run_folder.h"
#include "train/task.h"

namespace ingot {

// Validation every train.eval_every steps and at the end; abandoned, and the run with it, when a
// stop is asked for meanwhile.
class EvaluateTask final : public Task {
 public:
  EvaluateTask(int64_t every, const std::atomic<bool>* stop) : every_(every), stop_(stop) {}
  bool due(const TaskTime& now) const override;
  void run(RunView& run) override;

 private:
  int64_t every_;
  const std::atomic<bool>* stop_;
};

// A checkpoint every checkpoint.every steps, when one is asked for, and when the run ends, in
// whichever way.
class SaveTask final : public Task {
 public:
  struct Options {
    std::shared_ptr<Storage> storage;
    int64_t every = 0;
    Companions companions;        // of every checkpoint
    RunFolder* folder = nullptr;  // rank 0's
    const std::atomic<bool>* stop = nullptr;
  };
  explicit SaveTask(Options options) : options_(std::move(options)) {}
  bool due(const TaskTime& now) const override;
  void run(RunView& run) override;

 private:
  Options options_;
};

}  // namespace ingot
