// The machines that `ingot launch` starts ranks on.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ingot::cli {

struct HostSlots {
  std::string host;
  int slots = 0;  // most ranks on it; 0: not given
  bool operator==(const HostSlots&) const = default;
};

// Parses "a,b:4", or lines of a file: "a", "b:4" or "b slots=4", with comments after #. Throws
// ErrorCode::Usage if it is no such list or names a host twice.
std::vector<HostSlots> parse_hosts(std::string_view text, std::string_view origin);

// Assigns ranks to hosts, in the order of the hosts: each host is filled up to its slots. If no
// host has slots, ranks are divided evenly. `ranks` 0: as many as there are slots. Throws
// ErrorCode::Usage if there are too few slots, or if nothing says how many ranks.
struct HostRanks {
  std::string host;
  int first = 0, count = 0;
};
std::vector<HostRanks> place_ranks(const std::vector<HostSlots>& hosts, int ranks);

std::string this_machine();  // its name
// Whether `host` names this machine.
bool is_this_machine(const std::string& host);

}  // namespace ingot::cli
