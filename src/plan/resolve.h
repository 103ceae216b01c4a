// Deciding what a run's settings leave open.
#pragma once

#include "core/device/device_facts.h"
#include "spec/resolved_run.h"

namespace ingot {

// What train.precision comes to on such a device.
Precision decided_precision(Precision asked, DeviceKind device);

// `facts`: of the device that every rank is to compute on, here or elsewhere; `cores`: of the
// machine. Nothing is allocated and no device touched. Throws ErrorCode::Config where settings
// contradict each other (that nothing says when to stop is no contradiction), and when the device
// cannot compute in train.precision or with such heads.
ResolvedRun resolve(const RunConfig& config, const DeviceFacts& facts, int cores);

// For this machine. system.device auto: a GPU if there is one; several local ranks compute on the
// CPU, since a GPU has one. Throws ErrorCode::Missing for a GPU that is not there.
ResolvedRun resolve_here(const RunConfig& config);

// Where a rank that is a process stands among those of its machine.
struct LocalPlace {
  int rank = 0;   // its number there
  int ranks = 1;  // how many they are
  int cores = 1;  // that they may use together
};

// For this rank of system.ranks that are processes: on a GPU its own of those that it sees, by its
// number; the cores are divided. Throws as resolve_here() does.
ResolvedRun resolve_rank_here(const RunConfig& config, const LocalPlace& place);

// Inside plan: resolve() without its refusals.
ResolvedRun lay_out(const RunConfig& config, const DeviceFacts& facts, int cores);

// Compute capability 8.9 or more.
bool has_fp8(const DeviceFacts& facts);

}  // namespace ingot
