// Matrices that an update needs whole while ranks hold slices of them: who computes which, when,
// and who has what of it. The same on all ranks, so that each knows whom to send to.
#pragma once

#include <vector>

#include "spec/layout/layout.h"
#include "spec/layout/shard_range.h"
#include "spec/rows/optimizer_states.h"

namespace ingot {

struct OwnedMatrix {
  TensorId parameter;
  int64_t begin = 0;  // its first element, of the flattened parameter
  MatrixShape shape;
  int owner = 0;  // who computes it, among the ranks that share the parameters
  int round = 0;  // a rank owns one matrix of a round at most
};

// Of orthogonalising one, by the five steps of optim/polar.h.
double polar_flops(const MatrixShape& matrix);

// Every matrix of the parameters that config.kind updates with whole matrices, none where it does
// not; by round, then by owner. The most work first, always to the rank that has least, so that
// FLOPs are even and the matrices of a round alike.
std::vector<OwnedMatrix> matrix_owners(const TensorTable& parameters, const OptimConfig& config,
                                       int ranks);

struct SlicedMatrix {
  OwnedMatrix matrix;
  std::vector<ShardRange> held;  // by rank along dp_shard: elements of the matrix, often none
};
// As matrix_owners() among the ranks of dp_shard, with what they hold (spec/rows/shard_map.h).
std::vector<SlicedMatrix> sliced_matrices(const TensorTable& parameters, const OptimConfig& config,
                                          const Layout& layout);

// Slices of one round that a rank sends, or gets, lie one after another, aligned like rows of an
// arena: the elements that one takes.
int64_t slice_room(DType dtype, const ShardRange& slice);

// What a rank holds during the update of sliced matrices; rows by number. "Two": one is filled by
// the others, or sent to them, while it computes with the other.
enum SlicedScratch {
  kSlicedX,         // (2, n), n the largest matrix: whole directions …
  kSlicedY,         // (2, n): … and what becomes of them
  kSlicedGram,      // (S·S) of the largest
  kSlicedSquare,    // (S·S)
  kSlicedPartials,  // as kMuonPartials
  kSlicedOutgoing,  // the rank's slices of directions, of one round
  kSlicedIncoming,  // its slices of what became of them
  kSlicedWideGram   // (S·S) wide: only where one of them needs it
};
// The largest of any rank, so that all plan alike.
std::vector<ScratchSpec> sliced_scratch(DeviceKind device, DType compute,
                                        const std::vector<SlicedMatrix>& matrices);

}  // namespace ingot
