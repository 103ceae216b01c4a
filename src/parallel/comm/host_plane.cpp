#include "parallel/comm/host_plane.h"

#include <fmt/ranges.h>

#include "core/error.h"

namespace ingot {

void HostPlane::throw_if_lost(std::span<const int> needed) {
  if (const auto lost = this->lost(needed))
    throw Error(ErrorCode::Comm, fmt::format("rank {} is lost: {}", lost->rank, lost->why))
        .on_rank(lost->rank);
}

std::string HostPlane::told_of(std::span<const int> ranks) {
  const std::vector<RankState> all = states();
  std::vector<std::string> texts;
  for (const int rank : ranks) {
    const RankState& known = all[static_cast<size_t>(rank)];
    texts.push_back(
        fmt::format("rank {}: {} (heard {:.1f} s ago)", rank, known.state, known.age_seconds));
  }
  return fmt::format("{}", fmt::join(texts, "; "));
}

void HostPlane::throw_late(Patience waited, std::span<const int> missing) {
  throw Error(ErrorCode::Comm,
              fmt::format("waited {:.1f} s for ranks {}; {}",
                          std::chrono::duration<double>(waited).count(), fmt::join(missing, ", "),
                          told_of(missing)));
}

}  // namespace ingot
