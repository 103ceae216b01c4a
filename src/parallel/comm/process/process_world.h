// A world whose ranks are processes, on one machine or several.
#pragma once

#include <memory>

#include "parallel/comm/rank_launcher.h"

namespace ingot {

// One rank that meets the others at process.rendezvous, "HOST:PORT". The others hear what it fails
// with. Its run ends when all ranks are done. Tensors in host memory go by tcp or mpi whatever the
// backend.
std::unique_ptr<RankLauncher> tcp_rank(const Process& process, const WorldOptions& options);
// The same for one of mpirun's: MPI says where the ranks meet.
std::unique_ptr<RankLauncher> mpi_rank(const Process& process, const WorldOptions& options);

}  // namespace ingot
