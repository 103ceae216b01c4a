// The ranks that this process is, for commands that are no run.
#pragma once

#include <string>

#include "parallel/comm/world.h"
#include "plan/resolve.h"

namespace ingot::cli {

inline ResolvedRun resolve_started(const RunConfig& config) {
  return resolve_here(config);
}

// system.ranks threads of this process.
inline RunRanks run_ranks(const ResolvedRun& run) {
  return [run](const std::function<void(World&)>& body) {
    run_local_ranks(static_cast<int>(run.config.system.ranks), run.device, body);
  };
}

// What carries tensors between the ranks: "threads", "tcp".
inline std::string carrier_of(const ResolvedRun&, const Process& process) {
  return process.rendezvous.empty() ? "threads" : "tcp";
}

}  // namespace ingot::cli
