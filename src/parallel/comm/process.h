// Which of the run's ranks this is, as whoever started it knows.
#pragma once

#include <string>

#include "core/device.h"

namespace ingot {

// `cli` fills it from a launcher's variables; run_local_ranks for ranks that are threads.
struct Process {
  int rank = 0;
  int world = 1;
  int local_rank = 0;      // among the ranks of this machine
  Device device;           // that this rank computes on
  std::string rendezvous;  // where ranks of other processes meet; empty: all are in this one
};

}  // namespace ingot
