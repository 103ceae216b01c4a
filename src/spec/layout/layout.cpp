#include "spec/layout/layout.h"

#include "core/error/error.h"

namespace ingot {
namespace {

template <class Axes>  // Layout or Coord
auto& along(Axes& axes, Axis axis) {
  switch (axis) {
    case Axis::Pp:
      return axes.pp;
    case Axis::DpReplicate:
      return axes.dp_replicate;
    case Axis::DpShard:
      return axes.dp_shard;
    case Axis::Cp:
      return axes.cp;
    case Axis::Tp:
      return axes.tp;
  }
  throw Error(ErrorCode::Internal, "unknown axis");
}

constexpr Axis kFastestFirst[] = {Axis::Tp, Axis::Cp, Axis::DpShard, Axis::DpReplicate, Axis::Pp};

}  // namespace

int Layout::size(Axis axis) const {
  return along(*this, axis);
}

Coord Layout::at(int rank) const {
  check(rank >= 0 && rank < world(), ErrorCode::Internal, "expected a rank below {}, got {}",
        world(), rank);
  Coord coord;
  for (const Axis axis : kFastestFirst) {
    along(coord, axis) = rank % size(axis);
    rank /= size(axis);
  }
  return coord;
}

int Layout::rank_at(const Coord& coord) const {
  int rank = 0, stride = 1;
  for (const Axis axis : kFastestFirst) {
    rank += stride * along(coord, axis);
    stride *= size(axis);
  }
  return rank;
}

std::vector<int> Layout::group(Axis axis, int rank) const {
  std::vector<int> ranks;
  Coord coord = at(rank);
  for (int i = 0; i < size(axis); ++i) {
    along(coord, axis) = i;
    ranks.push_back(rank_at(coord));
  }
  return ranks;
}

Layout data_layout(int ranks, DataParallel mode, int shard_ranks) {
  if (mode == DataParallel::Replicated) return {.dp_replicate = ranks};
  if (shard_ranks == 0) shard_ranks = ranks;
  check(ranks % shard_ranks == 0, ErrorCode::Config,
        "system.shard_ranks: expected a divisor of the {} ranks, got {}", ranks, shard_ranks);
  return {.dp_replicate = ranks / shard_ranks, .dp_shard = shard_ranks};
}

}  // namespace ingot
