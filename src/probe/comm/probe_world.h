// All measurements of `ingot probe`.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "parallel/comm/world.h"
#include "probe/comm/advice.h"
#include "probe/comm/collective_rate.h"
#include "probe/comm/link_limits.h"
#include "probe/comm/link_rate.h"
#include "probe/comm/nodes.h"
#include "probe/device_rates.h"
#include "probe/disk_rate.h"
#include "spec/machine/hardware_profile.h"

namespace ingot {

struct ProbeOptions {
  std::map<std::string, std::string> environment = {};  // NCCL_… of this process
  std::string disk_folder = {};                         // empty: disks are not measured
  int64_t disk_bytes = int64_t{256} << 20;
  double seconds = 20.0;                   // approximately, for links and collectives
  int64_t most_bytes = int64_t{64} << 20;  // of a message and of a collective's tensor
};

// One rank's own measurements; 0 for a rank that shares its device with a lower one.
struct RankReport {
  std::string host;
  int local_rank = 0;
  std::string device = {};  // "cpu", "cuda:0 NVIDIA H200"
  std::string gpu = {};     // the driver's name; empty on the CPU
  bool measured = false;
  DeviceRates rates = {};
  double disk_write = 0.0, disk_read = 0.0;  // of the first rank of a node
  int64_t disk_bytes = 0;
  bool disk_direct = false;
};

struct LinkReport {
  LinkRate rate;
  LinkLimit limit;
  bool between_nodes = false;
};

struct ProbeReport {
  std::string transport;
  DeviceFacts device;  // of rank 0
  std::vector<RankNode> nodes;
  std::vector<NodeFacts> node_facts;  // by node
  std::vector<RankReport> ranks;      // by rank
  std::vector<CollectiveRate> collectives;
  std::vector<LinkReport> links;
  std::vector<Advice> advice;
};

// Every rank calls it with the same options, except for environment; the same result on every rank.
// `ctx` has the threads of one rank, `whole` those of the machine, for what is measured once per
// machine.
ProbeReport probe_world(World& world, Context& ctx, Context& whole, const ProbeOptions& options);

// The nominal rate of each link, if known.
LinkLimit link_limit(const ProbeReport& report, int from, int to);

std::string text_of(const ProbeReport& report);
nlohmann::json to_json(const ProbeReport& report);
HardwareProfile profile_of(const ProbeReport& report, const std::string& made);

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(RankReport, host, local_rank, device, gpu, measured, rates,
                                   disk_write, disk_read, disk_bytes, disk_direct)

}  // namespace ingot
