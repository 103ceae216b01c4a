// The machines that `ingot launch` starts ranks on.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ingot::cli {

struct HostSlots {
  std::string host;
  int slots = 0;  // ranks it takes; 0: not said
  bool operator==(const HostSlots&) const = default;
};

// "a,b:4", or the lines of a file: "a", "b:4" or "b slots=4", after # a comment. Throws
// ErrorCode::Usage for what is no such list, and for a host that is named twice.
std::vector<HostSlots> parse_hosts(std::string_view text, std::string_view origin);

// The ranks of each host, in the order of the hosts: one after another up to its slots, or where no
// host says how many it takes as evenly as it goes. ranks 0: as many as there are slots. Throws
// ErrorCode::Usage where there are too few, or nothing says how many.
struct HostRanks {
  std::string host;
  int first = 0, count = 0;
};
std::vector<HostRanks> place_ranks(const std::vector<HostSlots>& hosts, int ranks);

std::string this_machine();  // its name
// Whether `host` is this machine, by its name.
bool is_this_machine(const std::string& host);

}  // namespace ingot::cli
