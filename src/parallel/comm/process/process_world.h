// A world whose ranks are processes, on one machine or many.
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
  LaneDelay delay = {};  // of the lanes of communicators, as in run_local_ranks()
  ReadVariable variable = [](const char*) { return std::string(); };
};

// Meets the other ranks at process.rendezvous. Tensors in host memory go by tcp or mpi whatever
// the backend; the program's own rank alone is a world of one without any of it. The world ends as
// HostPlane::go() says: with "" or, while an exception is under way, as a failure.
std::unique_ptr<World> join_world(const Process& process, const WorldOptions& options);

// Joins the world and runs body(world) as this rank. The others hear what it fails with; what it
// throws has a rank: this one's, or where it was released by the loss of another that one's.
// Returns when all ranks are done.
void run_process_rank(const Process& process, const WorldOptions& options,
                      const std::function<void(World&)>& body);

}  // namespace ingot
