#include "parallel/comm/host_plane.h"

#include "core/error.h"

namespace ingot {

void HostPlane::throw_if_lost() const {
  if (const auto lost = this->lost())
    throw Error(ErrorCode::Comm, fmt::format("rank {} is lost: {}", lost->rank, lost->why))
        .on_rank(lost->rank);
}

}  // namespace ingot
