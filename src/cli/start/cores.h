// The cores of this machine, and which of them a rank keeps to.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ingot::cli {

// "0-3,8" → 0, 1, 2, 3, 8, as /sys has them; nothing for what is no such list.
std::optional<std::vector<int>> parse_cores(std::string_view text);
std::string text_of_cores(std::vector<int> cores);

// That this process may run on, in the order of sockets and cores, a core's threads beside each
// other; and how many the machine has.
struct AllowedCores {
  std::vector<int> cores;
  int on_machine = 0;
  bool are_all() const { return static_cast<int>(cores.size()) >= on_machine; }
};
AllowedCores allowed_cores();

// Part `index` of `count` nearly equal ones, in order; all where there are not as many.
std::vector<int> share_of(std::span<const int> cores, int index, int count);

// What rank `local_rank` of a machine keeps to: its share of `allowed`, or of those near its GPU,
// divided among the ranks whose GPUs have the same. `near` says what is near to whom, by local
// rank; empty lists where that is not known.
std::vector<int> cores_of_rank(std::span<const int> allowed, std::span<const std::vector<int>> near,
                               int local_rank);

// Cores near the GPU at a PCI address; empty where that is not known.
std::vector<int> cores_near_pci(const std::string& address);

// Every thread of this process, as it has one, and those it makes later. False where it is refused.
bool bind_to(std::span<const int> cores);

}  // namespace ingot::cli
