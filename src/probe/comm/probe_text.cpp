// A probe's report, for people and for programs.
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "core/text/format.h"
#include "probe/comm/drawing.h"
#include "probe/comm/probe_world.h"

namespace ingot {
namespace {

std::string rate_text(double bytes_s) {
  return format_bytes(static_cast<int64_t>(bytes_s)) + "/s";
}
std::string time_text(double seconds) {
  if (seconds < 1e-3) return fmt::format("{:.1f} µs", 1e6 * seconds);
  return seconds < 1 ? fmt::format("{:.2f} ms", 1e3 * seconds) : fmt::format("{:.2f} s", seconds);
}
std::string flops_text(double flops) {
  return flops < 1e12 ? fmt::format("{:.1f} GFLOP/s", flops / 1e9)
                      : fmt::format("{:.1f} TFLOP/s", flops / 1e12);
}

std::string interface_text(const NetworkInterface& one) {
  return fmt::format("{}{}", one.name,
                     one.bytes_s > 0 ? " " + format_bit_rate(one.bytes_s) : " (speed unknown)");
}

std::string host_text(const NodeFacts& node) {
  const HostFacts& host = node.host;
  std::vector<std::string> interfaces, ports;
  for (const NetworkInterface& one : host.interfaces)
    if (one.up && !one.loopback) interfaces.push_back(interface_text(one));
  for (const InfinibandPort& port : host.infiniband)
    ports.push_back(fmt::format("{} {}{}", port.name, format_bit_rate(port.bytes_s),
                                port.active ? "" : " (not active)"));
  std::string text =
      fmt::format("node {}: rank{} {}\n  {}, {} cores, {}, {} NUMA node{}, {} free in /dev/shm\n",
                  host.name, node.ranks.size() == 1 ? "" : "s", fmt::join(node.ranks, ", "),
                  host.kernel, host.cores, format_bytes(host.memory_bytes), host.numa_nodes,
                  host.numa_nodes == 1 ? "" : "s", format_bytes(host.shm_free_bytes));
  text += fmt::format(
      "  network: {}{}{}\n",
      interfaces.empty() ? "none is up" : fmt::format("{}", fmt::join(interfaces, ", ")),
      ports.empty() ? "" : fmt::format("; InfiniBand {}", fmt::join(ports, ", ")),
      node.interface.empty() ? "" : fmt::format("; ranks talk by {}", node.interface));
  std::map<std::string, int> gpus;
  for (const std::string& gpu : host.gpus) ++gpus[gpu];
  std::vector<std::string> counted;
  for (const auto& [gpu, count] : gpus) counted.push_back(fmt::format("{} × {}", count, gpu));
  text += fmt::format("  GPUs: {}; NCCL {}; MPI {}\n",
                      counted.empty() ? "none" : fmt::format("{}", fmt::join(counted, ", ")),
                      host.has_nccl ? "found" : "not found", host.has_mpi ? "found" : "not found");
  return text;
}

// What was measured on every device that was, or, where they differ little, of the slowest.
std::string device_lines(const ProbeReport& report) {
  std::string text;
  for (size_t rank = 0; rank < report.ranks.size(); ++rank) {
    const RankReport& r = report.ranks[rank];
    if (!r.measured) continue;
    text += fmt::format("rank {} on {} of {}\n  GEMM   ", rank, r.device, r.host);
    const std::pair<const char*, double> gemms[] = {{"f64", r.rates.gemm_f64},
                                                    {"f32", r.rates.gemm_f32},
                                                    {"tf32", r.rates.gemm_tf32},
                                                    {"bf16", r.rates.gemm_bf16},
                                                    {"fp8", r.rates.gemm_fp8}};
    for (const auto& [name, flops] : gemms)
      if (flops > 0) text += fmt::format(" {} {} ", name, flops_text(flops));
    text +=
        fmt::format("\n  memory  {} read plus written in a copy\n", rate_text(r.rates.memory_copy));
    if (r.rates.to_device > 0)
      text += fmt::format("  PCIe    {} to the GPU, {} from it, pinned\n",
                          rate_text(r.rates.to_device), rate_text(r.rates.from_device));
    if (r.disk_bytes > 0)
      text += fmt::format(
          "  disk    {} written, {} read ({}, {})\n", rate_text(r.disk_write),
          rate_text(r.disk_read), format_bytes(r.disk_bytes),
          r.disk_direct ? "past the page cache" : "synced; the page cache may have helped reading");
  }
  return text;
}

// Of one kind of a group: by size, as they were measured.
using Sweep = std::vector<CollectiveRate>;

std::string group_lines(const std::vector<Sweep>& sweeps) {
  const CollectiveRate& first = sweeps.front().front();
  std::string text = fmt::format("{:<28}{:>12}{:>14}{:>14}{:>12}\n",
                                 fmt::format("{} of {} ranks", first.group, first.ranks), "latency",
                                 "algorithm", "bus", "at");
  for (const Sweep& sweep : sweeps) {
    const auto best = std::ranges::max_element(sweep, {}, &CollectiveRate::bus_bytes_s);
    const auto least = std::ranges::min_element(sweep, {}, &CollectiveRate::seconds);
    text += fmt::format("  {:<26}{:>12}{:>14}{:>14}{:>12}\n", name_of(best->kind),
                        time_text(least->seconds), rate_text(best->algorithm_bytes_s()),
                        rate_text(best->bus_bytes_s()), format_bytes(best->bytes));
  }
  // All kinds begin with the same sizes; a slow one ends early.
  const auto longest = std::ranges::max_element(sweeps, {}, &Sweep::size);
  text += "  bus in GB/s by size";
  for (const CollectiveRate& rate : *longest)
    text += fmt::format("{:>9}", format_bytes(rate.bytes));
  text += '\n';
  for (const Sweep& sweep : sweeps) {
    text += fmt::format("  {:<19}", name_of(sweep.front().kind));
    for (const CollectiveRate& rate : sweep)
      text += fmt::format("{:>9.3f}", rate.bus_bytes_s() / 1e9);
    text += '\n';
  }
  return text;
}

std::string collective_lines(const ProbeReport& report) {
  std::string text;
  std::vector<Sweep> group;
  const auto flush = [&] {
    if (!group.empty()) text += group_lines(group);
    group.clear();
  };
  for (const CollectiveRate& rate : report.collectives) {
    if (!group.empty() && group.front().front().group != rate.group) flush();
    if (group.empty() || group.back().front().kind != rate.kind) group.emplace_back();
    group.back().push_back(rate);
  }
  flush();
  return text;
}

std::string place_of(const ProbeReport& report, int rank) {
  const auto node = static_cast<size_t>(node_numbers(report.nodes)[static_cast<size_t>(rank)]);
  return report.nodes.size() == 1 ? fmt::format("{}", rank)
                                  : fmt::format("{} ({})", rank, report.nodes[node].name);
}

std::string link_text(const ProbeReport& report, const LinkReport& link) {
  return fmt::format("{} → {}: {}, latency {}{}", place_of(report, link.rate.from),
                     place_of(report, link.rate.to), rate_text(link.rate.bytes_s),
                     time_text(link.rate.latency_seconds),
                     link.limit.bytes_s == 0
                         ? ""
                         : fmt::format(", {} of {} ({})",
                                       format_percent(link.rate.bytes_s / link.limit.bytes_s, 0),
                                       rate_text(link.limit.bytes_s), link.limit.source));
}

std::vector<LinkRate> rates_of(const ProbeReport& report) {
  std::vector<LinkRate> rates;
  for (const LinkReport& link : report.links) rates.push_back(link.rate);
  return rates;
}

const LinkReport& report_of(const ProbeReport& report, const LinkRate& rate) {
  return *std::ranges::find_if(report.links, [&](const LinkReport& link) {
    return link.rate.from == rate.from && link.rate.to == rate.to;
  });
}

std::string link_lines(const ProbeReport& report) {
  constexpr size_t kMostShown = 8;
  if (report.links.empty()) return "";
  const auto rates = rates_of(report);
  std::string text = fmt::format("links by {}, from rank to rank\n{}", report.transport,
                                 draw_links(rates, static_cast<int>(report.ranks.size())));
  text += fmt::format("slowest  {}\n", link_text(report, report_of(report, *slowest_link(rates))));
  const auto slow = slow_links(rates);
  for (size_t i = 1; i < std::min(slow.size(), kMostShown); ++i)
    text += fmt::format("slow     {}\n", link_text(report, report_of(report, slow[i])));
  if (slow.size() > kMostShown)
    text += fmt::format("slow     and {} more\n", slow.size() - kMostShown);
  return text;
}

std::string advice_lines(const ProbeReport& report) {
  std::string text;
  for (const Advice& advice : report.advice)
    text += fmt::format(
        "try      {}: {}\n",
        advice.value.empty() ? "unset " + advice.variable : advice.variable + "=" + advice.value,
        advice.why);
  return text;
}

}  // namespace

std::string text_of(const ProbeReport& report) {
  std::string text;
  for (const NodeFacts& node : report.node_facts) text += host_text(node);
  for (const std::string& part :
       {device_lines(report), collective_lines(report), link_lines(report), advice_lines(report)})
    if (!part.empty()) text += "\n" + part;
  return text;
}

nlohmann::json to_json(const ProbeReport& report) {
  nlohmann::json line = {
      {"transport", report.transport},          {"ranks", report.ranks.size()},
      {"nodes", nlohmann::json::array()},       {"devices", nlohmann::json::array()},
      {"collectives", nlohmann::json::array()}, {"links", nlohmann::json::array()},
      {"advice", nlohmann::json::array()}};
  for (const NodeFacts& node : report.node_facts) {
    nlohmann::json row = node.host;
    row["ranks"] = node.ranks;
    row["rendezvous_address"] = node.rendezvous_address;
    row["interface"] = node.interface;
    line["nodes"].push_back(std::move(row));
  }
  for (size_t rank = 0; rank < report.ranks.size(); ++rank) {
    nlohmann::json row = report.ranks[rank];
    row["rank"] = rank;
    line["devices"].push_back(std::move(row));
  }
  for (const CollectiveRate& rate : report.collectives)
    line["collectives"].push_back(to_json(rate));
  for (const LinkReport& link : report.links) {
    nlohmann::json row = link.rate;
    row["limit_bytes_s"] = link.limit.bytes_s;
    row["between_nodes"] = link.between_nodes;
    line["links"].push_back(std::move(row));
  }
  const auto rates = rates_of(report);
  if (const LinkRate* slowest = slowest_link(rates))
    line["slowest_link"] = {slowest->from, slowest->to};
  nlohmann::json slow = nlohmann::json::array();
  for (const LinkRate& link : slow_links(rates)) slow.push_back({link.from, link.to});
  line["slow_links"] = std::move(slow);
  for (const Advice& advice : report.advice) line["advice"].push_back(to_json(advice));
  return line;
}

}  // namespace ingot
