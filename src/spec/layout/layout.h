// The layout of a run's ranks over parallel axes. An "axis" belongs to the layout, a "dim" to a
// tensor.
#pragma once

#include <vector>

namespace ingot {

// What each axis splits. Pp: layers. DpReplicate: the batch, with unsharded weights. DpShard: the
// batch and the weights. Cp: sequences. Tp: matrices.
enum class Axis { Pp, DpReplicate, DpShard, Cp, Tp };

// A rank's position along each axis, counted from 0.
struct Coord {
  int pp = 0, dp_replicate = 0, dp_shard = 0, cp = 0, tp = 0;
  bool operator==(const Coord&) const = default;
};

// Ranks along each axis. Consecutive ranks differ along tp first and along pp last, so that the
// ranks that communicate most are nearest.
struct Layout {
  int pp = 1, dp_replicate = 1, dp_shard = 1, cp = 1, tp = 1;

  int world() const { return pp * data_ranks() * cp * tp; }
  int data_ranks() const { return dp_replicate * dp_shard; }  // ranks that read their own batches
  int size(Axis axis) const;

  Coord at(int rank) const;
  int rank_at(const Coord& coord) const;
  // The ranks that differ from `rank` only along `axis`, including itself, in order along it.
  std::vector<int> group(Axis axis, int rank) const;

  bool operator==(const Layout&) const = default;
};

// system.data_parallel: what is sharded. Zero1: optimizer states and masters; Zero2: gradients too;
// FullySharded (ZeRO-3): weights too.
enum class DataParallel { Replicated, Zero1, Zero2, FullySharded };

// system.gradient_sync: sharded ranks reduce gradients in every micro-step, or once a step.
enum class GradientSync { MicroStep, Step };

// How long gathered weights of a block stay in memory: around each use, from the first to the last
// use in a micro-step, or for the whole run.
enum class UnshardedWeights { AroundUses, ForwardToBackward, Always };

// `shard_ranks`: the ranks that together hold one copy of the sharded state; the sets are replicas
// of each other. 0: all ranks. Throws ErrorCode::Config if it does not divide the ranks.
Layout data_layout(int ranks, DataParallel mode, int shard_ranks = 0);

}  // namespace ingot
