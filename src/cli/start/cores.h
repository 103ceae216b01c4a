// The cores of this machine, and which of them a rank binds to.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ingot::cli {

// "0-3,8" → 0, 1, 2, 3, 8, the form of /sys; nothing if `text` is no such list.
std::optional<std::vector<int>> parse_cores(std::string_view text);
std::string text_of_cores(std::vector<int> cores);

// The logical cores that this process may run on, ordered by socket and core, with a core's threads
// next to each other; and the number of cores of the machine.
struct AllowedCores {
  std::vector<int> cores;
  int on_machine = 0;
  bool are_all() const { return static_cast<int>(cores.size()) >= on_machine; }
};
AllowedCores allowed_cores();

// Part `index` of `count` nearly equal parts, in order; all cores if there are fewer than `count`.
std::vector<int> share_of(std::span<const int> cores, int index, int count);

// The cores that rank `local_rank` of a machine binds to: its share of `allowed`, or of the cores
// near its GPU, which it divides with the ranks whose GPUs are near the same cores. `near`: by
// local rank, the cores near its GPU; empty if unknown.
std::vector<int> cores_of_rank(std::span<const int> allowed, std::span<const std::vector<int>> near,
                               int local_rank);

// The cores near the GPU at a PCI address; empty if unknown.
std::vector<int> cores_near_pci(const std::string& address);

// Binds this process, which must have only one thread yet, and the threads that it starts later.
// False if the system refuses.
bool bind_to(std::span<const int> cores);

}  // namespace ingot::cli
