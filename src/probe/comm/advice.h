// Advice on settings for links that are slower than expected or misconfigured.
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
  // The rendezvous's address as this machine resolves it, and the interface to it. Empty: ranks are
  // threads, or MPI connects them.
  std::string rendezvous_address, interface;
  std::map<std::string, std::string> environment;  // NCCL_… variables of this machine's ranks
};

// Measured rates of some links, and the expected rate of the slowest; 0: unknown.
struct LinkFacts {
  double slowest_bytes_s = 0.0;
  double limit_bytes_s = 0.0;
  bool is_slow() const;  // less than half of what is expected
};

struct ProbeFacts {
  std::string transport;  // the transport: "threads", "tcp", "mpi", "nccl"
  bool on_gpu = false;
  std::vector<NodeFacts> nodes;
  LinkFacts within, between;       // nodes
  double host_copy_bytes_s = 0.0;  // slowest pinned copy to or from a GPU; 0: none
};

struct Advice {
  std::string variable, value;  // value "": unset the variable
  std::string why;
};
nlohmann::json to_json(const Advice& advice);

// In the order of the table in advice.cpp; empty: no advice.
std::vector<Advice> advise(const ProbeFacts& facts);

}  // namespace ingot
