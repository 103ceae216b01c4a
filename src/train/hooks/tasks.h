// The tasks of every run.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>

#include "checkpoint/checkpoint.h"
#include "core/storage/state_section.h"
#include "core/storage/storage.h"
#include "train/hooks/save_clock.h"
#include "train/hooks/task.h"
#include "train/start/run_folder.h"

namespace ingot {

// Validation every train.eval_every steps and at the end; abandoned, and the run with it, when a
// stop is asked for meanwhile. What a stop prevented is a section of the checkpoint, so that a
// resume begins with it.
class EvaluateTask final : public Task, public StateSection {
 public:
  EvaluateTask(int64_t every, const std::atomic<bool>* stop) : every_(every), stop_(stop) {}
  bool due(const TaskTime& now) const override;
  void run(RunView& run) override;

  std::string_view name() const override { return "validation"; }
  std::string save() const override;
  void load(std::string_view saved) override;
  bool may_be_missing() const override { return true; }

 private:
  int64_t every_;
  const std::atomic<bool>* stop_;
  std::optional<int64_t> missing_;  // the step after which a validation was prevented
};

// A checkpoint every checkpoint.every steps, when one is asked for, and when the run ends, in
// whichever way.
class SaveTask final : public Task {
 public:
  struct Options {
    std::shared_ptr<Storage> storage;
    int64_t every = 0;
    AuxiliaryFiles auxiliary_files;  // of every checkpoint
    RunFolder* folder = nullptr;     // rank 0's
    SaveClock* clock = nullptr;      // is told of every save
    const std::atomic<bool>* stop = nullptr;
  };
  explicit SaveTask(Options options) : options_(std::move(options)) {}
  bool due(const TaskTime& now) const override;
  void run(RunView& run) override;

 private:
  Options options_;
};

}  // namespace ingot
