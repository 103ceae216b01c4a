// How the ranks of a run are laid out over what is split among them. "Axis" is the layout, "dim" is
// a tensor.
#pragma once

#include <vector>

namespace ingot {

struct RunConfig;

// What an axis splits: layers, the batch with whole weights, the batch with a share of the weights,
// sequences, matrices.
enum class Axis { Pp, DpReplicate, DpShard, Cp, Tp };

// Where a rank stands, counted from 0 along each axis.
struct Coord {
  int pp = 0, dp_replicate = 0, dp_shard = 0, cp = 0, tp = 0;
  bool operator==(const Coord&) const = default;
};

// Ranks along each axis. Of neighbouring ranks tp differs first and pp last, so that who talks most
// is nearest.
struct Layout {
  int pp = 1, dp_replicate = 1, dp_shard = 1, cp = 1, tp = 1;

  int world() const { return pp * data_ranks() * cp * tp; }
  int data_ranks() const { return dp_replicate * dp_shard; }  // that read batches of their own
  int size(Axis axis) const;

  Coord at(int rank) const;
  int rank_at(const Coord& coord) const;
  // The ranks that differ from `rank` along `axis` only, itself among them, in order along it.
  std::vector<int> group(Axis axis, int rank) const;

  bool operator==(const Layout&) const = default;
};

// system.data_parallel: whether each rank holds all weights or a share of them (ZeRO-3).
enum class DataParallel { Replicated, FullySharded };

// system.gradient_sync: whether sharded ranks reduce gradients in every micro-step or once a step.
enum class GradientSync { MicroStep, Step };

Layout data_layout(int ranks, DataParallel mode);
Layout layout_of(const RunConfig& config);  // of system.ranks and system.data_parallel

}  // namespace ingot
