#include "spec/rows/matrix_owners.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "spec/model/transformer_parameters.h"

namespace ingot {
namespace {

OptimConfig muon() {
  OptimConfig config;
  config.kind = OptimKind::Muon;
  return config;
}

TensorTable layers(int64_t count) {
  ModelConfig model = model_preset("llama_10m");
  model.layers = count;
  model.kv_heads = 2;
  return transformer_parameters(model);
}

TEST(MatrixOwners, EveryMatrixHasOneAndNobodyHasTwoInARound) {
  const TensorTable parameters = layers(3);
  for (const int ranks : {1, 2, 3, 5, 8, 40}) {
    const std::vector<OwnedMatrix> all = matrix_owners(parameters, muon(), ranks);
    EXPECT_EQ(all.size(), 3u * 7u);  // q, k, v, out, gate, up, down
    std::set<std::pair<int32_t, int64_t>> places;
    std::set<std::pair<int, int>> turns;
    int last = 0;
    for (const OwnedMatrix& one : all) {
      EXPECT_TRUE(places.emplace(one.parameter.row, one.begin).second);
      EXPECT_TRUE(turns.emplace(one.round, one.owner).second);
      EXPECT_GE(one.round, last);
      EXPECT_LE(one.round, last + 1);
      last = one.round;
      EXPECT_LT(one.owner, ranks);
    }
  }
  EXPECT_TRUE(matrix_owners(parameters, OptimConfig{}, 2).empty());
}

TEST(MatrixOwners, WorkIsEvenToWithinOneMatrix) {
  const TensorTable parameters = layers(8);
  for (const int ranks : {2, 3, 4, 7, 8}) {
    std::vector<double> flops(static_cast<size_t>(ranks));
    double largest = 0.0;
    for (const OwnedMatrix& one : matrix_owners(parameters, muon(), ranks)) {
      flops[static_cast<size_t>(one.owner)] += polar_flops(one.shape);
      largest = std::max(largest, polar_flops(one.shape));
    }
    const auto [least, most] = std::ranges::minmax(flops);
    EXPECT_LE(most - least, largest) << ranks;
  }
}

TEST(MatrixOwners, SlicesOfAllRanksAreTheMatrix) {
  const TensorTable parameters = layers(2);
  for (const Layout layout :
       {Layout{.dp_shard = 2}, Layout{.dp_replicate = 2, .dp_shard = 3}, Layout{.dp_shard = 7}})
    for (const auto& [matrix, held] : sliced_matrices(parameters, muon(), layout)) {
      ASSERT_EQ(held.size(), static_cast<size_t>(layout.dp_shard));
      int64_t end = 0;
      for (const ShardRange& slice : held) {
        if (slice.size() == 0) continue;
        EXPECT_EQ(slice.begin, end);
        end = slice.end;
      }
      EXPECT_EQ(end, matrix.shape.numel());
    }
}

// A rank's slices of the matrices of one round that others own.
TEST(MatrixOwners, ScratchHoldsTheSlicesOfAnyRound) {
  const TensorTable parameters = layers(4);
  const Layout layout{.dp_shard = 3};
  const std::vector<SlicedMatrix> all = sliced_matrices(parameters, muon(), layout);
  const std::vector<ScratchSpec> scratch = sliced_scratch(DeviceKind::Cpu, DType::F32, all);
  const int rounds = all.back().matrix.round + 1;
  int64_t most = 0, largest = 0;
  for (int rank = 0; rank < 3; ++rank)
    for (int round = 0; round < rounds; ++round) {
      int64_t sum = 0;
      for (const auto& [matrix, held] : all) {
        largest = std::max(largest, matrix.shape.numel());
        if (matrix.round == round && matrix.owner != rank)
          sum += slice_room(DType::F32, held[static_cast<size_t>(rank)]);
      }
      most = std::max(most, sum);
    }
  EXPECT_EQ(scratch[kSlicedOutgoing].shape.numel(), most);
  EXPECT_EQ(scratch[kSlicedIncoming].shape.numel(), most);
  EXPECT_EQ(scratch[kSlicedX].shape, (Shape{2, slice_room(DType::F32, {0, largest})}));
  EXPECT_EQ(scratch.size(), static_cast<size_t>(kSlicedAccGram));
  const std::vector<ScratchSpec> on_gpu = sliced_scratch(DeviceKind::Cuda, DType::BF16, all);
  EXPECT_EQ(on_gpu[kSlicedOutgoing].dtype, DType::BF16);
  ASSERT_GT(on_gpu.size(), static_cast<size_t>(kSlicedAccGram));
  EXPECT_EQ(on_gpu[kSlicedAccGram].dtype, DType::F32);
}

}  // namespace
}  // namespace ingot
