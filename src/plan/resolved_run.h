// A run with nothing left to decide, before memory is taken or a folder made: engine, loop,
// validation and benches take only that.
#pragma once

#include <optional>

#include "core/device/device_facts.h"
#include "core/tensor/device.h"
#include "spec/rows/decode_table.h"
#include "spec/rows/transformer_table.h"
#include "spec/run/step_walk.h"
#include "spec/run/valid_config.h"

namespace ingot {

// What computes the ranks of a run that are on this machine.
struct RunPlace {
  Device device = {};      // of every rank, or of the one that this process is
  DeviceFacts facts = {};  // of it
  int device_ranks = 1;    // of this machine, that share it
  int threads = 1;         // of all ranks of this machine
  int threads_per_rank = 1;
  bool group_of_one = false;  // one rank sends gradients like one of several; for timing that
};

// Plain data that resolve() (plan/resolve.h) alone makes, of settings without contradictions that
// the device can compute: who is given one checks nothing again.
class ResolvedRun {
 public:
  // What checkpoints and the ledger keep: the settings as they were given, but for train.precision.
  // A run whose `auto` meant bf16 must not be resumed on a CPU in fp32.
  const ValidConfig recorded;
  const StepRules steps;
  const RunPlace place;
  // With what was decided in the place of every `auto` and 0: precision, device, threads,
  // loss_chunk, tokens of a step, lengths of the schedule.
  const RunConfig config;
  const TrainShape shape;  // of one rank: dtype, layout, scratch
  // Of what scores tasks between steps, if any do: with weights in the dtype of the step, sequences
  // up to the model's context, and no more pages than keep the prompts of some items.
  const std::optional<DecodeShape> scoring;
  const bool one_micro_step;  // every step is one, so that gradients may lie among activations

 private:
  friend ResolvedRun resolve(const ValidConfig& config, const RunPlace& place);
  ResolvedRun(const ValidConfig& given, const RunPlace& on);
};

}  // namespace ingot
