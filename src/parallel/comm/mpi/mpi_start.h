// How ranks that mpirun started find each other, before they have any other way.
#pragma once

#include <string>

#include "parallel/comm/deadlines.h"
#include "parallel/comm/process.h"

namespace ingot {

// All of it loads MPI and throws ErrorCode::Missing where it is not installed, saying what to
// install, and ErrorCode::Comm where MPI_Init does not end in time: it waits for all ranks that the
// launcher started.

// Throws ErrorCode::Config unless MPI knows this process by the rank and world that `process` has.
void check_mpi_process(const Process& process, Patience timeout = Deadlines{}.start);

// Rank 0's text, of at most 1000 bytes, on every rank; all call it. ErrorCode::Comm after the
// timeout, which is MPI_Init's too.
std::string mpi_broadcast_text(const std::string& own, const Process& process,
                               Patience timeout = Deadlines{}.start);

}  // namespace ingot
