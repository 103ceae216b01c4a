#include "probe/comm/advice.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>

#include "core/text/format.h"

namespace ingot {
namespace {

// Of a variable.
struct Wanted {
  std::string value, why;
};
using Verdict = std::optional<Wanted>;

bool uses_nccl(const ProbeFacts& f) {
  return f.on_gpu && f.transport == "nccl";
}
bool is_spread(const ProbeFacts& f) {
  return f.nodes.size() > 1;
}
template <class Has>
std::vector<std::string> hosts_that(const ProbeFacts& f, const Has& has) {
  std::vector<std::string> names;
  for (const NodeFacts& node : f.nodes)
    if (has(node)) names.push_back(node.host.name);
  return names;
}
std::string value_of(const NodeFacts& node, const std::string& variable) {
  const auto found = node.environment.find(variable);
  return found == node.environment.end() ? "" : found->second;
}
bool is_set(const ProbeFacts& f, const std::string& variable, const std::string& value) {
  return std::ranges::any_of(
      f.nodes, [&](const NodeFacts& node) { return value_of(node, variable) == value; });
}
std::string rate_text(double bytes_s) {
  return format_bytes(static_cast<int64_t>(bytes_s)) + "/s";
}
std::vector<std::string> hosts_with_infiniband(const ProbeFacts& f) {
  return hosts_that(f, [](const NodeFacts& n) { return n.host.has_active_infiniband(); });
}
std::vector<std::string> hosts_on_loopback(const ProbeFacts& f) {
  return hosts_that(f,
                    [](const NodeFacts& n) { return is_loopback_address(n.rendezvous_address); });
}

// An interface that every machine has up and that is neither a loopback nor made by software; of
// several the one whose slowest card is fastest. Empty: none.
std::string common_interface(const ProbeFacts& f) {
  std::string best;
  double best_rate = -1;
  for (const NetworkInterface& candidate : f.nodes.front().host.interfaces) {
    double rate = candidate.bytes_s;
    const bool is_everywhere = std::ranges::all_of(f.nodes, [&](const NodeFacts& node) {
      const auto& all = node.host.interfaces;
      const auto found = std::ranges::find(all, candidate.name, &NetworkInterface::name);
      if (found == all.end() || !found->up || found->loopback || !found->hardware ||
          found->addresses.empty())
        return false;
      rate = std::min(rate, found->bytes_s);
      return true;
    });
    if (is_everywhere && rate > best_rate) best = candidate.name, best_rate = rate;
  }
  return best;
}

// The others find rank 0 at their own loopback: the name stands there in /etc/hosts.
Verdict rendezvous(const ProbeFacts& f) {
  const auto hosts = hosts_on_loopback(f);
  if (!is_spread(f) || hosts.empty()) return std::nullopt;
  std::string address = "an address of rank 0's machine that the others reach";
  for (const NetworkInterface& interface : f.nodes.front().host.interfaces)
    if (interface.name == common_interface(f)) address = interface.addresses.front();
  return Wanted{address,
                fmt::format("its name is a loopback address on {}, where no other machine can be: "
                            "take it out of /etc/hosts there, or give the address",
                            fmt::join(hosts, ", "))};
}

Verdict socket_interface(const ProbeFacts& f) {
  if (!uses_nccl(f) || !is_spread(f)) return std::nullopt;
  const std::string best = common_interface(f);
  if (const auto hosts = hosts_on_loopback(f); !hosts.empty())
    return Wanted{best.empty() ? "^lo,docker" : best,
                  fmt::format("the rendezvous's name is a loopback address on {}, and NCCL takes "
                              "the interface that it finds by it: lo, which reaches nobody",
                              fmt::join(hosts, ", "))};
  // NCCL takes the first that is up, and a bridge of containers has the same address everywhere.
  std::set<std::string> made;
  for (const NodeFacts& node : f.nodes)
    for (const NetworkInterface& one : node.host.interfaces)
      if (one.up && !one.hardware && !one.loopback && !one.addresses.empty() &&
          one.name != node.interface)
        made.insert(one.name);
  if (!made.empty() && value_of(f.nodes.front(), "NCCL_SOCKET_IFNAME").empty())
    return Wanted{best.empty() ? fmt::format("^lo,{}", fmt::join(made, ",")) : best,
                  fmt::format("{} is up and made by software: NCCL may take it for a way to other "
                              "machines",
                              fmt::join(made, ", "))};
  for (const NodeFacts& node : f.nodes) {
    const auto& all = node.host.interfaces;
    const auto used = std::ranges::find(all, node.interface, &NetworkInterface::name);
    const auto faster = std::ranges::find(all, best, &NetworkInterface::name);
    if (used != all.end() && faster != all.end() && faster->bytes_s > 1.5 * used->bytes_s &&
        used->bytes_s > 0)
      return Wanted{best,
                    fmt::format("{} talks by {}, and {} is {:.0f} times as fast", node.host.name,
                                used->name, best, faster->bytes_s / used->bytes_s)};
  }
  return std::nullopt;
}

Verdict infiniband(const ProbeFacts& f) {
  if (!uses_nccl(f) || !is_spread(f)) return std::nullopt;
  const auto with = hosts_with_infiniband(f);
  if (with.size() == f.nodes.size()) {
    if (is_set(f, "NCCL_IB_DISABLE", "1"))
      return Wanted{"", "every machine has an active InfiniBand port, which this turns off"};
    if (f.between.is_slow())
      return Wanted{"1", fmt::format("to compare: links between machines give {} of {}, and "
                                     "sockets are what InfiniBand must beat",
                                     rate_text(f.between.slowest_bytes_s),
                                     rate_text(f.between.limit_bytes_s))};
    return std::nullopt;
  }
  if (with.empty()) return std::nullopt;  // NCCL sees that itself
  return Wanted{"1", fmt::format("only {} of {} machines have an active InfiniBand port ({}): all "
                                 "must talk the same way",
                                 with.size(), f.nodes.size(), fmt::join(with, ", "))};
}

Verdict network(const ProbeFacts& f) {
  if (!uses_nccl(f) || !is_spread(f)) return std::nullopt;
  const auto with = hosts_with_infiniband(f);
  if (with.size() == f.nodes.size() && is_set(f, "NCCL_NET", "Socket"))
    return Wanted{"IB", "every machine has an active InfiniBand port, and sockets are asked for"};
  if (with.empty() && is_set(f, "NCCL_NET", "IB"))
    return Wanted{"Socket", "no machine has an active InfiniBand port, and it is asked for"};
  return std::nullopt;
}

Verdict network_plugin(const ProbeFacts& f) {
  if (!uses_nccl(f) || !is_spread(f)) return std::nullopt;
  const auto with = hosts_that(f, [](const NodeFacts& n) { return n.host.has_nccl_net_plugin; });
  if (with.empty() || with.size() == f.nodes.size()) return std::nullopt;
  return Wanted{"none", fmt::format("libnccl-net.so is installed on {} alone: the machines would "
                                    "not talk the same way",
                                    fmt::join(with, ", "))};
}

Verdict peer_copies(const ProbeFacts& f) {
  if (!uses_nccl(f) || f.within.slowest_bytes_s == 0) return std::nullopt;
  if (is_set(f, "NCCL_P2P_DISABLE", "1") && f.within.is_slow())
    return Wanted{
        "", fmt::format("GPUs of a machine exchange {} where their link gives {}, and "
                        "this forbids it",
                        rate_text(f.within.slowest_bytes_s), rate_text(f.within.limit_bytes_s))};
  // Direct copies that are slower than the way by host memory: a switch that redirects them (ACS,
  // a virtual machine's IOMMU).
  if (f.host_copy_bytes_s > 0 && f.within.slowest_bytes_s < 0.25 * f.host_copy_bytes_s)
    return Wanted{"1",
                  fmt::format("GPUs of a machine exchange {}, a quarter or less of the {} of "
                              "a copy by host memory: direct copies are redirected (ACS, "
                              "IOMMU)",
                              rate_text(f.within.slowest_bytes_s), rate_text(f.host_copy_bytes_s))};
  return std::nullopt;
}

Verdict shared_memory(const ProbeFacts& f) {
  constexpr int64_t kOfARank = int64_t{32} << 20;  // what NCCL's segments come to, with ease
  if (!uses_nccl(f)) return std::nullopt;
  for (const NodeFacts& node : f.nodes) {
    const auto needed = kOfARank * static_cast<int64_t>(node.ranks.size());
    if (node.ranks.size() > 1 && node.host.shm_free_bytes < needed)
      return Wanted{"1", fmt::format("/dev/shm of {} has {} for {} ranks, which may take {}: "
                                     "better give the container more (--shm-size=1g)",
                                     node.host.name, format_bytes(node.host.shm_free_bytes),
                                     node.ranks.size(), format_bytes(needed))};
  }
  return std::nullopt;
}

// A variable, and when it should have which value. `f` has at least one node.
struct Rule {
  const char* variable;
  Verdict (*judge)(const ProbeFacts& f);
};
constexpr std::array kRules = {
    Rule{"MASTER_ADDR", rendezvous},         Rule{"NCCL_SOCKET_IFNAME", socket_interface},
    Rule{"NCCL_IB_DISABLE", infiniband},     Rule{"NCCL_NET", network},
    Rule{"NCCL_NET_PLUGIN", network_plugin}, Rule{"NCCL_P2P_DISABLE", peer_copies},
    Rule{"NCCL_SHM_DISABLE", shared_memory},
};

}  // namespace

bool LinkFacts::is_slow() const {
  return limit_bytes_s > 0 && slowest_bytes_s > 0 && slowest_bytes_s < 0.5 * limit_bytes_s;
}

nlohmann::json to_json(const Advice& advice) {
  return {{"variable", advice.variable}, {"value", advice.value}, {"why", advice.why}};
}

std::vector<Advice> advise(const ProbeFacts& facts) {
  std::vector<Advice> all;
  if (facts.nodes.empty()) return all;
  for (const Rule& rule : kRules)
    if (const Verdict verdict = rule.judge(facts))
      all.push_back({rule.variable, verdict->value, verdict->why});
  // Last, where nothing above explains it.
  const bool is_slow = facts.within.is_slow() || facts.between.is_slow();
  if (all.empty() && uses_nccl(facts) && is_slow)
    all.push_back({"NCCL_DEBUG", "INFO",
                   "a link gives less than half of what it should: NCCL then says which way it "
                   "takes and why"});
  return all;
}

}  // namespace ingot
