// A run with nothing left to decide. plan/resolve.h makes one, before memory is taken or a folder
// made; engine, loop, validation and benches take only that.
#pragma once

#include "core/device/device_facts.h"
#include "core/tensor/device.h"
#include "spec/rows/transformer_table.h"
#include "spec/run/run_config.h"
#include "spec/run/step_walk.h"

namespace ingot {

struct ResolvedRun {
  // With what was decided in the place of every `auto` and 0: precision, device, threads,
  // loss_chunk, tokens of a step, lengths of the schedule.
  RunConfig config;
  // What checkpoints and the ledger keep: the settings as they were given, but for train.precision.
  // Where `auto` meant bf16, a CPU must not go on in fp32.
  RunConfig recorded;
  Device device;         // of every rank, or of the one that this process is
  DeviceFacts facts;     // of it
  int device_ranks = 1;  // of this machine, that share it
  int threads_per_rank = 1;
  TrainShape shape;             // of one rank: dtype, layout, scratch
  bool one_micro_step = false;  // every step is one, so that gradients may lie among activations
  bool group_of_one = false;    // one rank sends gradients like one of several; for timing that
  StepRules steps;
};

}  // namespace ingot
