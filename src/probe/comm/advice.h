// What to set where links are slower than they should be, or would be misled.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "probe/host_facts.h"

namespace ingot {

// One machine of a run.
struct NodeFacts {
  HostFacts host;
  std::vector<int> ranks;
  // The rendezvous's name as this machine resolves it, and the interface towards it. Empty: ranks
  // are threads, or MPI tells.
  std::string rendezvous_address, interface;
  std::map<std::string, std::string> environment;  // NCCL_…, as this machine's ranks have it
};

// What is measured of some links, and what the slowest of them should give; 0: not known.
struct LinkFacts {
  double slowest_bytes_s = 0.0;
  double limit_bytes_s = 0.0;
  bool is_slow() const;  // less than half of what it should be
};

struct ProbeFacts {
  std::string carrier;  // "threads", "tcp", "mpi", "nccl"
  bool on_gpu = false;
  std::vector<NodeFacts> nodes;
  LinkFacts within, between;       // nodes
  double host_copy_bytes_s = 0.0;  // the least of pinned copies to and from GPUs; 0: none
};

struct Advice {
  std::string variable, value;  // value "": take the variable away
  std::string why;
};
nlohmann::json to_json(const Advice& advice);

// In the order of the table in advice.cpp; empty: nothing to say.
std::vector<Advice> advise(const ProbeFacts& facts);

}  // namespace ingot
