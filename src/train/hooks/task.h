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
  virtual const Deadlines& deadlines() const = 0;  // of meetings
  virtual Engine& engine() = 0;
  virtual const RunState& state() const = 0;  // as a checkpoint of this moment has it
  virtual TrainResult& result() = 0;
  virtual bool leads() const = 0;  // rank 0: the one that writes
  // To every sink of the run; nothing on ranks that do not lead.
  virtual void record(const RunRecord& record) = 0;
  // The run ends after this round of tasks. All ranks say so or none.
  virtual void stop() = 0;
};

// When it is, after a completed step; equal on all ranks.
struct TaskTime {
  int64_t step = 0;
  bool at_end = false;      // the run is complete
  bool stopping = false;    // it ends before that
  bool save_asked = false;  // from outside, or by the clock
  bool resumed = false;     // it begins with what was left to do after this step
};

// Every rank has one of its own and runs it together with the others.
class Task {
 public:
  virtual ~Task() = default;
  virtual bool due(const TaskTime& now) const = 0;
  virtual void run(RunView& run) = 0;
};

}  // namespace ingot
