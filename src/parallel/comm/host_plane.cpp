#include "parallel/comm/host_plane.h"

#include <unistd.h>

#include "core/error/error.h"

namespace ingot {

std::string machine_name(const Process& process) {
  if (!process.host.empty()) return process.host;
  char name[256] = {};
  gethostname(name, sizeof name - 1);
  return name;
}

void HostPlane::throw_if_lost(std::span<const int> needed) {
  if (const auto lost = this->lost(needed)) throw lost_error(*lost);
}

void HostPlane::throw_late(Timeout waited, std::span<const int> missing) {
  const std::vector<RankState> all = states();
  std::vector<MissingRank> known;
  for (const int rank : missing) {
    const RankState& one = all[static_cast<size_t>(rank)];
    known.push_back({rank, fmt::format("{} (heard {:.1f} s ago)", one.state, one.age_seconds)});
  }
  const Error error = waited_for(waited, known);
  declare_lost({error.rank(),
                fmt::format("rank {} ({}): {}", process().rank, watch().state(), error.what())});
  throw error;
}

}  // namespace ingot
