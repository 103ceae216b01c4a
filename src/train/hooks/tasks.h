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

// Validates every train.eval_every steps and at the end. A stop request abandons the validation and
// ends the run; the checkpoint then records that it is missing, so that a resume begins with it.
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
  std::optional<int64_t> missing_;  // the step whose validation is missing
};

// Saves a checkpoint every checkpoint.every steps, on request, and when the run ends or stops.
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
