// The tasks of every run.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>

#include "checkpoint/checkpoint.h"
#include "core/storage/state_section.h"
#include "core/storage/storage.h"
#include "feed/sample_sources.h"
#include "train/hooks/save_clock.h"
#include "train/hooks/task.h"
#include "train/start/run_folder.h"

namespace ingot {

// Measures the model between steps. A stop request abandons the measurement and ends the run; the
// checkpoint then records that it is missing, so that a resume begins with it.
class MeasuringTask : public Task, public StateSection {
 public:
  explicit MeasuringTask(const std::atomic<bool>* stop) : stop_(stop) {}
  bool due(const TaskTime& now) const final;
  void run(RunView& run) final;

  std::string save() const final;
  void load(std::string_view saved) final;
  bool may_be_missing() const final { return true; }

 protected:
  virtual bool is_time(const TaskTime& now) const = 0;  // in a run that was not just resumed
  virtual bool measure(RunView& run) = 0;               // false, on all ranks: stopped meanwhile
  const std::atomic<bool>* stop() const { return stop_; }

 private:
  const std::atomic<bool>* stop_;
  std::optional<int64_t> missing_;  // the step whose measurement is missing
};

// Validates every train.eval_every steps and at the end.
class EvaluateTask final : public MeasuringTask {
 public:
  EvaluateTask(int64_t every, const std::atomic<bool>* stop) : MeasuringTask(stop), every_(every) {}
  std::string_view name() const override { return "validation"; }

 private:
  bool is_time(const TaskTime& now) const override;
  bool measure(RunView& run) override;

  int64_t every_;
  std::optional<SampleSources> sources_;  // of the validation, once it was read
};

// Scores train.eval_tasks every train.eval_tasks_every tokens and at the end, on all ranks, with
// the weights as they are. Changes nothing of the run.
class ScoreTask final : public MeasuringTask {
 public:
  ScoreTask(int64_t every_tokens, const std::atomic<bool>* stop)
      : MeasuringTask(stop), every_tokens_(every_tokens) {}
  std::string_view name() const override { return "task_scores"; }

 private:
  bool is_time(const TaskTime& now) const override;
  bool measure(RunView& run) override;

  int64_t every_tokens_;
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
