// A world whose ranks are processes, on one machine or many.
#pragma once

#include <memory>

#include "parallel/comm/deadlines.h"
#include "parallel/comm/world.h"
#include "spec/comm_backend.h"

namespace ingot {

struct WorldOptions {
  CommBackend backend = CommBackend::Auto;
  Deadlines deadlines = {};
};

// Meets the other ranks at process.rendezvous. Tensors in host memory go by tcp or mpi whatever
// the backend; the program's own rank alone is a world of one without any of it.
std::unique_ptr<World> join_world(const Process& process, const WorldOptions& options);

}  // namespace ingot
