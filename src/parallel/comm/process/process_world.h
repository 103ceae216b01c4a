// A world whose ranks are processes, on one machine or several.
#pragma once

#include <functional>
#include <memory>

#include "core/async/lane.h"
#include "parallel/comm/deadlines.h"
#include "parallel/comm/nccl_facts.h"
#include "parallel/comm/world.h"
#include "spec/layout/comm_backend.h"

namespace ingot {

struct WorldOptions {
  CommBackend backend = CommBackend::Auto;
  Deadlines deadlines = {};
  LaneDelay delay = {};  // for lanes of communicators, as in run_local_ranks()
  ReadVariable variable = [](const char*) { return std::string(); };
};

// Connects to the other ranks at process.rendezvous. Tensors in host memory use tcp or mpi whatever
// the backend; a single rank gets a world of one without connections. The destructor calls
// HostPlane::go(): with "" or, during an exception, as a failure.
std::unique_ptr<World> join_world(const Process& process, const WorldOptions& options);

// Joins the world and runs body(world) as this rank. The others are told if it fails. The rethrown
// error has a rank: this one's, or the lost rank's if this one was released by its loss. Returns
// when all ranks are done.
void run_process_rank(const Process& process, const WorldOptions& options,
                      const std::function<void(World&)>& body);

}  // namespace ingot
