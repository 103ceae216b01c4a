#include "cli/start/cores.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sched.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>
#include <tuple>

namespace ingot::cli {
namespace {

std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

// Socket and core, for the order; a machine that does not say has one of each.
std::tuple<int, int, int> place_of(int cpu) {
  const std::string folder = fmt::format("/sys/devices/system/cpu/cpu{}/topology/", cpu);
  const auto number = [&](const char* name) {
    const std::string text = first_line(folder + name);
    int value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
  };
  return {number("physical_package_id"), number("core_id"), cpu};
}

}  // namespace

std::optional<std::vector<int>> parse_cores(std::string_view text) {
  constexpr int kMost = CPU_SETSIZE;
  std::vector<int> cores;
  const char *at = text.data(), *end = at + text.size();
  const auto number = [&](int& value) {
    const auto [next, error] = std::from_chars(at, end, value);
    if (error != std::errc() || value < 0 || value >= kMost) return false;
    at = next;
    return true;
  };
  while (at != end) {
    int from = 0, to = 0;
    if (!number(from)) return std::nullopt;
    to = from;
    if (at != end && *at == '-' && (++at, !number(to))) return std::nullopt;
    for (int core = from; core <= to; ++core) cores.push_back(core);
    if (at == end) break;
    if (*at++ != ',' || at == end) return std::nullopt;
  }
  return cores;
}

std::string text_of_cores(std::vector<int> cores) {
  std::sort(cores.begin(), cores.end());
  std::vector<std::string> parts;
  for (size_t i = 0; i < cores.size();) {
    size_t end = i + 1;
    while (end < cores.size() && cores[end] == cores[end - 1] + 1) ++end;
    parts.push_back(end - i == 1 ? fmt::format("{}", cores[i])
                                 : fmt::format("{}-{}", cores[i], cores[end - 1]));
    i = end;
  }
  return fmt::format("{}", fmt::join(parts, ","));
}

AllowedCores allowed_cores() {
  AllowedCores allowed;
  cpu_set_t set;
  CPU_ZERO(&set);
  if (::sched_getaffinity(0, sizeof(set), &set) != 0) return allowed;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &set)) allowed.cores.push_back(cpu);
  std::ranges::sort(allowed.cores, {}, place_of);
  const auto online = parse_cores(first_line("/sys/devices/system/cpu/online"));
  allowed.on_machine = static_cast<int>(online ? online->size() : allowed.cores.size());
  return allowed;
}

std::vector<int> share_of(std::span<const int> cores, int index, int count) {
  const auto size = static_cast<int>(cores.size());
  if (size < count) return {cores.begin(), cores.end()};
  const auto begin = static_cast<size_t>(int64_t{size} * index / count);
  const auto end = static_cast<size_t>(int64_t{size} * (index + 1) / count);
  return {cores.begin() + static_cast<std::ptrdiff_t>(begin),
          cores.begin() + static_cast<std::ptrdiff_t>(end)};
}

std::vector<int> cores_of_rank(std::span<const int> allowed, std::span<const std::vector<int>> near,
                               int local_rank) {
  const std::vector<int>& own = near[static_cast<size_t>(local_rank)];
  const auto count = static_cast<int>(near.size());
  std::vector<int> kept;
  std::ranges::copy_if(allowed, std::back_inserter(kept),
                       [&](int core) { return std::ranges::find(own, core) != own.end(); });
  if (kept.empty()) return share_of(allowed, local_rank, count);
  const auto same_before = std::ranges::count(near.first(static_cast<size_t>(local_rank)), own);
  return share_of(kept, static_cast<int>(same_before),
                  static_cast<int>(std::ranges::count(near, own)));
}

std::vector<int> cores_near_pci(const std::string& address) {
  return parse_cores(first_line("/sys/bus/pci/devices/" + address + "/local_cpulist"))
      .value_or(std::vector<int>());
}

bool bind_to(std::span<const int> cores) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int core : cores) CPU_SET(core, &set);
  return !cores.empty() && ::sched_setaffinity(0, sizeof(set), &set) == 0;
}

}  // namespace ingot::cli
