// The schedule of updates that need unsharded matrices while ranks hold slices of them: which rank
// updates which matrix in which round, and who holds which slice. All ranks compute the same
// schedule, so that each knows whom to send to.
#pragma once

#include <vector>

#include "spec/layout/layout.h"
#include "spec/layout/shard_range.h"
#include "spec/rows/optimizer_states.h"

namespace ingot {

struct OwnedMatrix {
  TensorId parameter;
  int64_t begin = 0;  // its first element in the flattened parameter
  MatrixShape shape;
  int owner = 0;  // the rank that updates it, among the ranks that shard the parameters
  int round = 0;  // a rank owns at most one matrix per round
};

// FLOPs to orthogonalise one matrix with the five steps of optim/polar.h.
double polar_flops(const MatrixShape& matrix);

// Every matrix that config.kind updates as a whole; empty if it updates none so. Sorted by round,
// then by owner. Matrices are assigned in order of falling work, each to the rank with the least
// work: FLOPs are balanced and the matrices of a round are similar.
std::vector<OwnedMatrix> matrix_owners(const TensorTable& parameters, const OptimConfig& config,
                                       int ranks);

struct SlicedMatrix {
  OwnedMatrix matrix;
  std::vector<ShardRange> held;  // by rank along dp_shard: its elements of the matrix, often none
};
// matrix_owners() among the ranks of dp_shard, with the slices they hold (spec/rows/shard_map.h).
std::vector<SlicedMatrix> sliced_matrices(const TensorTable& parameters, const OptimConfig& config,
                                          const Layout& layout);

// Elements that a slice takes in a buffer. The slices of one round that a rank sends or receives
// are packed with the alignment of arena rows.
int64_t slice_room(DType dtype, const ShardRange& slice);

// Scratch rows of a rank during the update of sliced matrices, by number. Two buffers alternate:
// one is exchanged with other ranks while the rank computes with the other.
enum SlicedScratch {
  kSlicedX,         // (2, n), n the largest matrix: directions of a matrix
  kSlicedY,         // (2, n): updates computed from them
  kSlicedGram,      // (S, S) of the largest
  kSlicedSquare,    // (S, S)
  kSlicedPartials,  // as kMuonPartials
  kSlicedOutgoing,  // the slices of directions that the rank sends in a round
  kSlicedIncoming,  // the slices of updates that it receives
  kSlicedAccGram    // (S, S) in the accumulation dtype: only if some matrix needs it
};
// The maximum over all ranks, so that all ranks plan the same memory.
std::vector<ScratchSpec> sliced_scratch(DeviceKind device, DType compute,
                                        const std::vector<SlicedMatrix>& matrices);

}  // namespace ingot
