// Decides what a run's settings leave open.
#pragma once

#include "core/device/device_facts.h"
#include "plan/resolved_run.h"

namespace ingot {

// The precision that train.precision means on such a device: resolves `auto`.
Precision decided_precision(Precision asked, DeviceKind device);

// Allocates nothing and touches no device. Throws ErrorCode::Config if the device cannot compute in
// train.precision or with such heads.
ResolvedRun resolve(const ValidConfig& config, const RunPlace& place);

// As `ingot launch` would start it on a machine with devices of `facts` and so many `cores`: each
// rank has its own GPU, unless system.share_gpu is set.
ResolvedRun resolve_elsewhere(const ValidConfig& config, const DeviceFacts& facts, int cores);

// For this machine. system.device = auto means a GPU if there is one; but several ranks of one
// process compute on the CPU, because a GPU takes one rank. Throws ErrorCode::Missing if the GPU is
// not there.
ResolvedRun resolve_here(const ValidConfig& config);

// A rank that is a process, among the ranks of its machine.
struct LocalPlace {
  int rank = 0;   // its number on the machine
  int ranks = 1;  // ranks on the machine
  int cores = 1;  // that these ranks may use together
};

// For one rank of system.ranks processes. Its local number chooses its GPU among the visible ones;
// the ranks of a machine divide its cores. Throws like resolve_here().
ResolvedRun resolve_rank_here(const ValidConfig& config, const LocalPlace& local);

// Whether the GPU has compute capability 8.9 or higher.
bool has_fp8(const DeviceFacts& facts);

}  // namespace ingot
