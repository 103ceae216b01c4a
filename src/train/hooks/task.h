// What a run does between two steps: evaluate, save, sample.
#pragma once

#include <cstdint>

#include "train/records/record.h"

namespace ingot {

class Control;
class Engine;
struct Deadlines;
struct PreparedRun;
struct RunState;
struct TrainResult;

// One rank's run between two steps, as a task sees it.
class RunView {
 public:
  virtual ~RunView() = default;
  virtual const PreparedRun& run() const = 0;
  virtual Control& control() = 0;
  virtual const Deadlines& deadlines() const = 0;  // how long ranks wait for each other
  virtual Engine& engine() = 0;
  virtual const RunState& state() const = 0;  // what a checkpoint saved now would hold
  virtual TrainResult& result() = 0;
  virtual bool leads() const = 0;  // whether this is rank 0, which writes
  // Hands a record to every sink of the run; does nothing on other ranks than rank 0.
  virtual void record(const RunRecord& record) = 0;
  // Ends the run after this round of tasks. Every rank calls it, or none.
  virtual void stop() = 0;
};

// The moment after a completed step; equal on all ranks.
struct TaskTime {
  int64_t step = 0;
  int64_t tokens = 0, step_tokens = 0;  // so far; of the last step
  bool at_end = false;                  // the run is complete
  bool stopping = false;                // it ends before that
  bool save_asked = false;              // from outside, or by the clock
  bool resumed = false;  // the run was just resumed here: do what was left undone after this step
};

// Every rank has its own; all ranks run it together.
class Task {
 public:
  virtual ~Task() = default;
  virtual bool due(const TaskTime& now) const = 0;
  virtual void run(RunView& run) = 0;
};

}  // namespace ingot
