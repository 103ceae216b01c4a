#include "cli/launch/hosts.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <numeric>
#include <set>

#include "core/error/error.h"

namespace ingot::cli {
namespace {

constexpr int kMostSlots = 4096;

std::string_view trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

// What ssh takes as a name or an address, with a user before it; never an option of ssh.
bool is_host_name(std::string_view name) {
  return !name.empty() && name[0] != '-' && std::ranges::all_of(name, [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           std::string_view("-._@").find(c) != std::string_view::npos;
  });
}

HostSlots parse_host(std::string_view text, std::string_view origin) {
  HostSlots found;
  std::string_view name = text, slots;
  bool counted = false;
  if (const size_t mark = text.find(" slots="); mark != std::string_view::npos) {
    name = trimmed(text.substr(0, mark)), slots = text.substr(mark + 7), counted = true;
  } else if (const size_t colon = text.find(':'); colon != std::string_view::npos) {
    name = text.substr(0, colon), slots = text.substr(colon + 1), counted = true;
  }
  const char* end = slots.data() + slots.size();
  const auto [last, error] = std::from_chars(slots.data(), end, found.slots);
  const bool good = !counted || (error == std::errc() && last == end && found.slots >= 1 &&
                                 found.slots <= kMostSlots);
  check(good && is_host_name(name), ErrorCode::Usage,
        "{}: expected a host such as «node3» or «node3:8», got «{}»", origin, text);
  found.host = name;
  return found;
}

}  // namespace

std::vector<HostSlots> parse_hosts(std::string_view text, std::string_view origin) {
  std::vector<HostSlots> hosts;
  std::set<std::string> names;
  while (!text.empty()) {
    const size_t end = std::min(text.find_first_of(",\n"), text.size());
    std::string_view part = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    part = trimmed(part.substr(0, part.find('#')));
    if (part.empty()) continue;
    hosts.push_back(parse_host(part, origin));
    check(names.insert(hosts.back().host).second, ErrorCode::Usage,
          "{}: host {} is named twice: give its slots at once, {}:N", origin, hosts.back().host,
          hosts.back().host);
  }
  check(!hosts.empty(), ErrorCode::Usage, "{}: expected hosts, got none", origin);
  return hosts;
}

std::vector<HostRanks> place_ranks(const std::vector<HostSlots>& hosts, int ranks) {
  const int slots = std::accumulate(hosts.begin(), hosts.end(), 0,
                                    [](int sum, const HostSlots& h) { return sum + h.slots; });
  const bool counted = std::ranges::all_of(hosts, [](const HostSlots& h) { return h.slots > 0; });
  check(counted || slots == 0, ErrorCode::Usage,
        "--hosts: expected the ranks of every host (HOST:N) or of none, got some");
  if (ranks == 0) ranks = slots;
  check(ranks > 0, ErrorCode::Usage,
        "how many ranks: expected -n N, or hosts that say it (--hosts a:8,b:8)");
  check(!counted || ranks <= slots, ErrorCode::Usage, "-n {}: the hosts take {} ranks", ranks,
        slots);
  std::vector<HostRanks> placed;
  int next = 0;
  const auto num_hosts = static_cast<int>(hosts.size());
  for (int i = 0; i < num_hosts; ++i) {
    const HostSlots& host = hosts[static_cast<size_t>(i)];
    const int even = static_cast<int>(int64_t{ranks} * (i + 1) / num_hosts) -
                     static_cast<int>(int64_t{ranks} * i / num_hosts);
    const int count = counted ? std::min(host.slots, ranks - next) : even;
    if (count == 0) continue;
    placed.push_back({host.host, next, count});
    next += count;
  }
  return placed;
}

std::string this_machine() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "localhost";
}

bool is_this_machine(const std::string& host) {
  const std::string own = this_machine();
  return host == "localhost" || host == "127.0.0.1" || host == own ||
         host == own.substr(0, own.find('.'));
}

}  // namespace ingot::cli
