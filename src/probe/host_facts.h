// What a machine is, as its system says, for advice and for the reader of a measurement.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace ingot {

struct NetworkInterface {
  std::string name;
  bool up = false;
  bool loopback = false;
  bool hardware = false;               // a card; not a bridge, a tunnel or one end of a pair
  double bytes_s = 0.0;                // what the link was negotiated to; 0: it does not say
  std::vector<std::string> addresses;  // IPv4 and IPv6
};

struct InfinibandPort {
  std::string name;  // "mlx5_0/1"
  bool active = false;
  double bytes_s = 0.0;
};

struct HostFacts {
  std::string name, kernel;
  int64_t cores = 0;  // that this process may use
  int64_t memory_bytes = 0;
  int64_t numa_nodes = 1;
  int64_t shm_free_bytes = 0;  // of /dev/shm
  std::vector<NetworkInterface> interfaces;
  std::vector<InfinibandPort> infiniband;
  std::vector<std::string> gpus;  // that this process may use
  // Whether the loader finds the library.
  bool has_nccl = false, has_nccl_net_plugin = false, has_mpi = false;

  bool has_active_infiniband() const;
  const NetworkInterface* with_address(const std::string& address) const;  // null: none
};

// Of this machine. Never throws: what cannot be read is left as it is.
HostFacts host_facts();

// Of what lies under a tree like /sys, without addresses.
std::vector<NetworkInterface> interfaces_in(const std::string& sys);
std::vector<InfinibandPort> infiniband_in(const std::string& sys);

// Of `host`, as this machine resolves it: the first address, and of this machine the address that
// it would be talked to from. Empty where it cannot be.
struct Route {
  std::string to, from;
};
Route route_to(const std::string& host);
bool is_loopback_address(const std::string& address);

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(NetworkInterface, name, up, loopback, hardware, bytes_s,
                                   addresses)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(InfinibandPort, name, active, bytes_s)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(HostFacts, name, kernel, cores, memory_bytes, numa_nodes,
                                   shm_free_bytes, interfaces, infiniband, gpus, has_nccl,
                                   has_nccl_net_plugin, has_mpi)

}  // namespace ingot
