// A machine's properties as the system reports them, for advice and for readers of a measurement.
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
  bool hardware = false;               // a physical card; no bridge, tunnel or veth
  double bytes_s = 0.0;                // negotiated link rate; 0: not reported
  std::vector<std::string> addresses;  // IPv4 and IPv6
};

struct InfinibandPort {
  std::string name;  // "mlx5_0/1"
  bool active = false;
  double bytes_s = 0.0;
};

struct HostFacts {
  std::string name, kernel;
  int64_t cores = 0;  // available to this process
  int64_t memory_bytes = 0;
  int64_t numa_nodes = 1;
  int64_t shm_free_bytes = 0;  // of /dev/shm
  std::vector<NetworkInterface> interfaces;
  std::vector<InfinibandPort> infiniband;
  std::vector<std::string> gpus;  // available to this process
  // Whether the dynamic loader finds the library.
  bool has_nccl = false, has_nccl_net_plugin = false, has_mpi = false;

  bool has_active_infiniband() const;
  const NetworkInterface* with_address(const std::string& address) const;  // null: none
};

// For this machine. Never throws: values that cannot be read keep their defaults.
HostFacts host_facts();

// From a tree like /sys, without addresses.
std::vector<NetworkInterface> interfaces_in(const std::string& sys);
std::vector<InfinibandPort> infiniband_in(const std::string& sys);

// The route to `host`: the first address it resolves to, and this machine's address on that route.
// Empty if it cannot be resolved.
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
