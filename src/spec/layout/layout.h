// How the ranks of a run are laid out over what is split among them. "Axis" is the layout, "dim" is
// a tensor.
#pragma once

#include <vector>

namespace ingot {

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

// system.data_parallel: what ranks share. Zero1: optimizer states and masters; Zero2: gradients
// too; FullySharded (ZeRO-3): weights too.
enum class DataParallel { Replicated, Zero1, Zero2, FullySharded };

// system.gradient_sync: whether sharded ranks reduce gradients in every micro-step or once a step.
enum class GradientSync { MicroStep, Step };

// While a rank that owns a share of the weights has all of a block's: around each use, from its
// first use in a micro-step to its last, or through the run.
enum class WholeWeights { AroundUses, ForwardToBackward, Always };

// `shard_ranks`: that share one copy of what is shared, each set of them a replica of the others;
// 0: all of them do. Throws ErrorCode::Config where they do not divide the ranks.
Layout data_layout(int ranks, DataParallel mode, int shard_ranks = 0);

}  // namespace ingot
