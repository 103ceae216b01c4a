// A run with nothing left to decide, before it allocates memory or creates a folder. Engine, loop,
// validation and benches take nothing else.
#pragma once

#include "core/device/device_facts.h"
#include "core/tensor/device.h"
#include "spec/rows/transformer_table.h"
#include "spec/run/step_walk.h"
#include "spec/run/valid_config.h"

namespace ingot {

// Where the ranks of a run on this machine compute.
struct RunPlace {
  Device device = {};      // of every rank, or of the rank that this process is
  DeviceFacts facts = {};  // of that device
  int device_ranks = 1;    // ranks of this machine that share the device
  int threads = 1;         // of all ranks of this machine
  int threads_per_rank = 1;
  bool group_of_one = false;  // a single rank sends gradients as if there were several, to time it
};

// Plain data that only resolve() (plan/resolve.h) makes. Its settings do not contradict each other
// and the device can compute them, so whoever takes one checks nothing again.
class ResolvedRun {
 public:
  // What checkpoints and the ledger keep: the settings as given, except that train.precision is
  // decided. A run whose `auto` meant bf16 must not be resumed on a CPU in fp32.
  const ValidConfig recorded;
  const StepRules steps;
  const RunPlace place;
  // The settings with every `auto` and 0 replaced by what was decided: precision, device, threads,
  // loss_chunk, tokens of a step, lengths of the schedule.
  const RunConfig config;
  const TrainShape shape;     // of one rank: dtype, layout, scratch
  const bool one_micro_step;  // every step has only one: gradients may reuse activations' memory

 private:
  friend ResolvedRun resolve(const ValidConfig& config, const RunPlace& place);
  ResolvedRun(const ValidConfig& given, const RunPlace& on);
};

}  // namespace ingot
