// Deciding what a run's settings leave open.
#pragma once

#include "core/device/device_facts.h"
#include "plan/resolved_run.h"

namespace ingot {

// What train.precision comes to on such a device.
Precision decided_precision(Precision asked, DeviceKind device);

// Nothing is allocated and no device touched. Throws ErrorCode::Config when the device cannot
// compute in train.precision or with such heads.
ResolvedRun resolve(const ValidConfig& config, const RunPlace& place);

// As `ingot launch` would start it on a machine with devices of `facts` and so many cores: a GPU
// each, unless ranks are to share one.
ResolvedRun resolve_elsewhere(const ValidConfig& config, const DeviceFacts& facts, int cores);

// For this machine. system.device auto: a GPU if there is one; several local ranks compute on the
// CPU, since a GPU has one. Throws ErrorCode::Missing for a GPU that is not there.
ResolvedRun resolve_here(const ValidConfig& config);

// Where a rank that is a process stands among those of its machine.
struct LocalPlace {
  int rank = 0;   // its number there
  int ranks = 1;  // how many they are
  int cores = 1;  // that they may use together
};

// For this rank of system.ranks that are processes: on a GPU its own of those that it sees, by its
// number; the cores are divided. Throws as resolve_here() does.
ResolvedRun resolve_rank_here(const ValidConfig& config, const LocalPlace& local);

// Compute capability 8.9 or more.
bool has_fp8(const DeviceFacts& facts);

}  // namespace ingot
