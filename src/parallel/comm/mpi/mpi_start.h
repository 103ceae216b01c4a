// Bootstraps ranks that mpirun started, before they have another connection.
#pragma once

#include <string>

#include "parallel/comm/deadlines.h"
#include "parallel/comm/process.h"

namespace ingot {

// These load MPI. They throw ErrorCode::Missing with what to install if MPI is not installed, and
// ErrorCode::Comm if MPI_Init times out: it waits for all ranks of the launcher.

// Throws ErrorCode::Config unless MPI's rank and world size equal those of `process`.
void check_mpi_process(const Process& process, Timeout timeout = Deadlines{}.start);

// Broadcasts rank 0's text, at most 1000 bytes; all ranks call it. Throws ErrorCode::Comm after the
// timeout, which also applies to MPI_Init.
std::string mpi_broadcast_text(const std::string& own, const Process& process,
                               Timeout timeout = Deadlines{}.start);

}  // namespace ingot
