#include "probe/comm/probe_world.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/device/compute_device.h"
#include "core/text/format.h"
#include "parallel/comm/tcp/socket.h"

namespace ingot {
namespace {

// What a rank says of itself and of its machine before anything is measured.
struct Introduction {
  RankReport rank;
  HostFacts host;
  std::string rendezvous_address, interface;
  std::map<std::string, std::string> environment;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Introduction, rank, host, rendezvous_address, interface,
                                   environment)

Introduction introduce(const World& world, const ProbeOptions& options) {
  const Process& process = world.process();
  Introduction own;
  own.host = host_facts();
  own.rank.host = process.host.empty() ? own.host.name : process.host;
  own.host.name = own.rank.host;
  own.rank.local_rank = process.local_rank;
  own.rank.device = device_text(process.device);
  if (const auto gpu = gpu_facts(process.device)) own.rank.gpu = gpu->name;
  own.environment = options.environment;
  if (process.rendezvous.empty()) return own;
  const Route route = route_to(tcp::parse_address(process.rendezvous).hosts.front());
  own.rendezvous_address = route.to;
  if (const NetworkInterface* interface = own.host.with_address(route.from))
    own.interface = interface->name;
  return own;
}

template <class T>
std::vector<T> gather_json(World& world, const char* what, const T& own) {
  std::vector<T> all;
  for (const std::string& text : world.control().gather(what, nlohmann::json(own).dump()))
    all.push_back(nlohmann::json::parse(text).get<T>());
  return all;
}

void exchange_nodes(World& world, const ProbeOptions& options, ProbeReport& report) {
  const auto all = gather_json(world, "probe: who is here", introduce(world, options));
  std::vector<RankHost> places;
  for (const Introduction& one : all) {
    report.ranks.push_back(one.rank);
    places.push_back({one.rank.host, one.rank.local_rank});
  }
  report.nodes = nodes_of(places);
  for (const RankNode& node : report.nodes) {
    const Introduction& first = all[static_cast<size_t>(node.ranks.front())];
    NodeFacts facts{first.host, node.ranks, first.rendezvous_address, first.interface,
                    first.environment};
    facts.host.name = node.name;
    report.node_facts.push_back(std::move(facts));
  }
}

// One rank for each device: the first of those that share it.
bool measures_device(const ProbeReport& report, const RankNode& node, int rank) {
  const auto device_of = [&](int r) { return report.ranks[static_cast<size_t>(r)].device; };
  for (const int other : node.ranks)
    if (device_of(other) == device_of(rank)) return other == rank;
  return false;
}

void measure_machines(World& world, Context& whole, const ProbeOptions& options,
                      ProbeReport& report) {
  const int me = world.rank();
  const auto number = static_cast<size_t>(node_numbers(report.nodes)[static_cast<size_t>(me)]);
  const RankNode& node = report.nodes[number];
  RankReport own = report.ranks[static_cast<size_t>(me)];
  if (measures_device(report, node, me)) {
    own.measured = true;
    own.rates = measure_device(whole);
  }
  if (me == node.ranks.front() && !options.disk_folder.empty()) {
    const DiskRate disk = measure_disk(options.disk_folder, options.disk_bytes);
    own.disk_write = disk.write_bytes_s, own.disk_read = disk.read_bytes_s;
    own.disk_bytes = disk.bytes, own.disk_direct = disk.direct;
  }
  report.ranks = gather_json(world, "probe: machines", own);
}

// All of the world; where that is something else, those of each node and the first of each node.
void measure_groups(World& world, Context& ctx, const ProbeOptions& options, ProbeReport& report) {
  const int me = world.rank();
  const auto number = static_cast<size_t>(node_numbers(report.nodes)[static_cast<size_t>(me)]);
  std::vector<int> everyone(static_cast<size_t>(world.size()));
  for (size_t i = 0; i < everyone.size(); ++i) everyone[i] = static_cast<int>(i);
  const std::vector<int> leaders = leaders_of(report.nodes);
  struct Group {
    const char* name;
    std::vector<int> ranks;  // this rank's; empty: it has none
  };
  std::vector<Group> groups = {{"world", everyone}};
  if (report.nodes.size() > 1 && report.nodes.size() < report.ranks.size()) {
    // A node of one rank has nobody to talk to.
    const std::vector<int>& own = report.nodes[number].ranks;
    groups.push_back({"node", own.size() > 1 ? own : std::vector<int>{}});
    groups.push_back(
        {"leaders", std::ranges::count(leaders, me) > 0 ? leaders : std::vector<int>{}});
  }
  const auto tasks = collective_sweep(options.most_bytes);
  const double each = 0.5 * options.seconds / static_cast<double>(groups.size() * tasks.size());
  for (const Group& group : groups)
    for (CollectiveRate& rate :
         measure_collectives(world, ctx, group.name, group.ranks, tasks, {.seconds_each = each}))
      report.collectives.push_back(std::move(rate));
}

LinkFacts facts_of(const ProbeReport& report, bool between_nodes) {
  LinkFacts facts;
  for (const LinkReport& link : report.links)
    if (link.between_nodes == between_nodes &&
        (facts.slowest_bytes_s == 0 || link.rate.bytes_s < facts.slowest_bytes_s))
      facts = {link.rate.bytes_s, link.limit.bytes_s};
  return facts;
}

double least(double a, double b) {
  return a == 0 || (b > 0 && b < a) ? b : a;
}

ProbeFacts facts_of(const ProbeReport& report) {
  ProbeFacts facts;
  facts.transport = report.transport;
  facts.nodes = report.node_facts;
  facts.on_gpu =
      std::ranges::all_of(report.ranks, [](const RankReport& r) { return !r.gpu.empty(); });
  facts.within = facts_of(report, false);
  facts.between = facts_of(report, true);
  for (const RankReport& rank : report.ranks)
    facts.host_copy_bytes_s =
        least(least(facts.host_copy_bytes_s, rank.rates.to_device), rank.rates.from_device);
  return facts;
}

}  // namespace

LinkLimit link_limit(const ProbeReport& report, int from, int to) {
  const std::vector<int> node_of = node_numbers(report.nodes);
  const auto a = static_cast<size_t>(from), b = static_cast<size_t>(to);
  const NodeFacts& here = report.node_facts[static_cast<size_t>(node_of[a])];
  const NodeFacts& there = report.node_facts[static_cast<size_t>(node_of[b])];
  if (node_of[a] != node_of[b]) {
    const auto card = [](const NodeFacts& node) {
      const auto& all = node.host.interfaces;
      const auto found = std::ranges::find(all, node.interface, &NetworkInterface::name);
      return found == all.end() ? NetworkInterface{} : *found;
    };
    const NetworkInterface one = card(here), other = card(there);
    const double rate = std::min(one.bytes_s, other.bytes_s);
    if (rate == 0) return {};
    return {rate, fmt::format("{} to {}, {}", one.name, other.name, format_bit_rate(rate))};
  }
  const RankReport &sender = report.ranks[a], &receiver = report.ranks[b];
  if (sender.device != receiver.device) return gpu_link_limit(sender.gpu);
  if (report.transport != "threads") return {};  // by the system's own copies
  // In one memory: a byte that arrives is read once and written once.
  double copy = 0;
  for (const int rank : here.ranks)
    if (report.ranks[static_cast<size_t>(rank)].device == sender.device)
      copy = std::max(copy, report.ranks[static_cast<size_t>(rank)].rates.memory_copy);
  return copy == 0 ? LinkLimit{} : LinkLimit{copy / 2, "copies in memory"};
}

ProbeReport probe_world(World& world, Context& ctx, Context& whole, const ProbeOptions& options) {
  ProbeReport report;
  report.transport = world.transport().name;
  report.device = ctx.facts;
  exchange_nodes(world, options, report);
  measure_machines(world, whole, options, report);
  if (world.size() > 1) {
    measure_groups(world, ctx, options, report);
    const std::vector<int> node_of = node_numbers(report.nodes);
    for (const LinkRate& rate :
         measure_links(world, ctx, {options.most_bytes, 0.5 * options.seconds}))
      report.links.push_back(
          {rate, link_limit(report, rate.from, rate.to),
           node_of[static_cast<size_t>(rate.from)] != node_of[static_cast<size_t>(rate.to)]});
  }
  report.advice = advise(facts_of(report));
  return report;
}

HardwareProfile profile_of(const ProbeReport& report, const std::string& made) {
  HardwareProfile p;
  p.made = made;
  p.transport = report.transport;
  p.ranks = static_cast<int64_t>(report.ranks.size());
  p.nodes = static_cast<int64_t>(report.nodes.size());
  const DeviceFacts& device = report.device;
  p.on_gpu = device.kind == DeviceKind::Cuda;
  p.device_name = device.name;
  p.major = device.major, p.minor = device.minor, p.sms = device.num_sms;
  p.device_memory_bytes = device.memory_bytes, p.l2_bytes = device.l2_bytes;
  const auto lower = [](int64_t& field, double value) {
    field = static_cast<int64_t>(least(static_cast<double>(field), value));
  };
  p.cores = 0;
  for (const NodeFacts& node : report.node_facts) {
    lower(p.cores, static_cast<double>(node.host.cores));
    lower(p.host_memory_bytes, static_cast<double>(node.host.memory_bytes));
  }
  for (const RankReport& rank : report.ranks) {
    const DeviceRates& r = rank.rates;
    lower(p.gemm_f64, r.gemm_f64), lower(p.gemm_f32, r.gemm_f32), lower(p.gemm_tf32, r.gemm_tf32);
    lower(p.gemm_bf16, r.gemm_bf16), lower(p.gemm_fp8, r.gemm_fp8);
    lower(p.memory_copy, r.memory_copy);
    lower(p.to_device, r.to_device), lower(p.from_device, r.from_device);
    lower(p.disk_write, rank.disk_write), lower(p.disk_read, rank.disk_read);
  }
  const bool has_senders = p.ranks > 1 && p.ranks <= kMaxProfileSenders;
  if (has_senders)
    for (int64_t rank = 0; rank < p.ranks; ++rank) {
      const std::vector<int64_t> none(static_cast<size_t>(p.ranks), 0);
      p.senders.push_back({rank, none, none});
    }
  for (const LinkReport& link : report.links) {
    const auto ns = static_cast<int64_t>(1e9 * link.rate.latency_seconds);
    lower(link.between_nodes ? p.between_bytes_s : p.within_bytes_s, link.rate.bytes_s);
    int64_t& longest = link.between_nodes ? p.between_latency_ns : p.within_latency_ns;
    longest = std::max(longest, ns);
    if (!has_senders) continue;
    auto& sender = p.senders[static_cast<size_t>(link.rate.from)];
    sender.bytes_s[static_cast<size_t>(link.rate.to)] = static_cast<int64_t>(link.rate.bytes_s);
    sender.latency_ns[static_cast<size_t>(link.rate.to)] = ns;
  }
  for (const CollectiveRate& rate : report.collectives)
    p.collectives.push_back({std::string(name_of(rate.kind)), rate.group, rate.ranks, rate.bytes,
                             std::max<int64_t>(1, static_cast<int64_t>(1e9 * rate.seconds))});
  return p;
}

}  // namespace ingot
