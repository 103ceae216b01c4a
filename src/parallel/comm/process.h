// This process's rank in the run, from its launcher.
#pragma once

#include <string>

#include "core/tensor/device.h"

namespace ingot {

// `cli` fills it from a launcher's variables, run_local_ranks for ranks that are threads.
struct Process {
  int rank = 0;
  int world = 1;
  int local_rank = 0;   // among the ranks of this machine
  int local_world = 1;  // ranks of this machine
  Device device;        // the device this rank computes on
  // Where ranks of other processes connect: "HOST:PORT", where rank 0 listens; "mpi": exchanged
  // through MPI. Empty: all ranks are in this process.
  std::string rendezvous;
  std::string secret = {};  // known only to ranks of this run; empty: any rank may join
  std::string host = {};    // this machine's name, for messages
};

}  // namespace ingot
