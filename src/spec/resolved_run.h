// A run in which every `auto` is decided. plan/resolve.h makes it before memory is allocated or a
// folder created. Engine, loop, validation and benches accept only a resolved run.
#pragma once

#include "core/device/device_facts.h"
#include "core/tensor/device.h"
#include "spec/rows/transformer_table.h"
#include "spec/run/run_config.h"
#include "spec/run/step_walk.h"

namespace ingot {

struct ResolvedRun {
  // Every `auto` and 0 is replaced by the decided value: precision, device, threads, loss_chunk,
  // tokens of a step, lengths of the schedule.
  RunConfig config;
  // Stored in checkpoints and the ledger: the settings as given, except train.precision, which is
  // decided. Otherwise a run whose `auto` meant bf16 could resume in fp32 on a CPU.
  RunConfig recorded;
  Device device;         // of every rank hosted by this process
  DeviceFacts facts;     // of that device
  int device_ranks = 1;  // ranks of this machine that share the device
  int threads_per_rank = 1;
  TrainShape shape;             // of one rank: dtype, layout, scratch
  bool one_micro_step = false;  // in every step: gradients may share memory with activations
  bool group_of_one = false;    // for timing: one rank reduces gradients as several do
  StepRules steps;
};

}  // namespace ingot
