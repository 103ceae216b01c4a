// Which of the run's ranks this is, as whoever started it knows.
#pragma once

#include <string>

#include "core/tensor/device.h"

namespace ingot {

// `cli` fills it from a launcher's variables; run_local_ranks for ranks that are threads.
struct Process {
  int rank = 0;
  int world = 1;
  int local_rank = 0;   // among the ranks of this machine
  int local_world = 1;  // ranks of this machine
  Device device;        // that this rank computes on
  // Where ranks of other processes meet: "HOST:PORT", at which rank 0 listens; "mpi": MPI tells.
  // Empty: all are in this process.
  std::string rendezvous;
  std::string secret = {};  // that only ranks of this run know; empty: any may join
  std::string host = {};    // this machine's name, for messages
};

}  // namespace ingot
