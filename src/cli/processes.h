// The ranks of a run, as this program was started.
#pragma once

#include <vector>

#include "parallel/comm/world.h"
#include "spec/resolved_run.h"

namespace ingot::cli {

// system.ranks threads of this process.
inline std::vector<Process> processes_of(const ResolvedRun& run) {
  return local_processes(static_cast<int>(run.config.system.ranks), run.device);
}

}  // namespace ingot::cli
