// What carries tensors between ranks.
#pragma once

#include <string>

#include "parallel/comm/world.h"
#include "spec/comm_backend.h"

namespace ingot {

// "threads" where the ranks are those of one process; "tcp", "mpi" or "nccl" where they are
// processes, by what they were asked to use and, for Auto, by what join_world() chooses then.
// Every rank calls it; the same on every rank.
std::string carrier_of(World& world, CommBackend asked);

}  // namespace ingot
