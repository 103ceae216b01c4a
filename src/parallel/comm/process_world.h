// A world whose ranks are processes, on one machine or many.
#pragma once

#include <memory>

#include "parallel/comm/deadlines.h"
#include "parallel/comm/world.h"

namespace ingot {

// What carries tensors between processes. Auto: nccl where the rank computes on a GPU of its own,
// tcp otherwise.
enum class CommBackend { Auto, Tcp, Mpi, Nccl };

struct WorldOptions {
  CommBackend backend = CommBackend::Auto;
  Deadlines deadlines = {};
};

// Meets the other ranks at process.rendezvous. Tensors in host memory go by tcp or mpi whatever
// the backend; the program's own rank alone is a world of one without any of it.
std::unique_ptr<World> join_world(const Process& process, const WorldOptions& options);

}  // namespace ingot
