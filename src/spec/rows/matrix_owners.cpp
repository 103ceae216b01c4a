#include "spec/rows/matrix_owners.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "core/device/arena.h"
#include "core/error/error.h"
#include "spec/rows/shard_map.h"

namespace ingot {
namespace {

std::vector<OwnedMatrix> all_matrices(const TensorTable& parameters, const OptimConfig& config) {
  std::vector<OwnedMatrix> all;
  for (int32_t row = 0; row < static_cast<int32_t>(parameters.rows().size()); ++row) {
    const TensorSpec& parameter = parameters[{row}];
    if (!needs_whole_matrices(optimizer_of(config, parameter))) continue;
    int64_t begin = 0;
    for (const MatrixShape& shape : matrices_of(parameter)) {
      all.push_back({{row}, begin, shape});
      begin += shape.numel();
    }
  }
  return all;
}

ShardRange overlap(const ShardRange& a, const ShardRange& b) {
  const int64_t begin = std::max(a.begin, b.begin);
  return {begin, std::max(begin, std::min(a.end, b.end))};
}

}  // namespace

double polar_flops(const MatrixShape& matrix) {
  const auto S = static_cast<double>(matrix.small());
  const auto L = static_cast<double>(std::max(matrix.rows, matrix.cols));
  return 20.0 * S * S * L + 10.0 * S * S * S;
}

std::vector<OwnedMatrix> matrix_owners(const TensorTable& parameters, const OptimConfig& config,
                                       int ranks) {
  check(ranks >= 1, ErrorCode::Internal, "matrix owners: expected at least one rank, got {}",
        ranks);
  std::vector<OwnedMatrix> all = all_matrices(parameters, config);
  std::ranges::stable_sort(all, std::ranges::greater(),
                           [](const OwnedMatrix& one) { return polar_flops(one.shape); });
  struct Load {
    double flops = 0.0;
    int matrices = 0;
  };
  std::vector<Load> loads(static_cast<size_t>(ranks));
  for (OwnedMatrix& one : all) {
    const auto least = std::ranges::min_element(loads, {}, &Load::flops);
    one.owner = static_cast<int>(least - loads.begin());
    one.round = least->matrices++;
    least->flops += polar_flops(one.shape);
  }
  std::ranges::stable_sort(all, {},
                           [](const OwnedMatrix& one) { return std::pair(one.round, one.owner); });
  return all;
}

std::vector<SlicedMatrix> sliced_matrices(const TensorTable& parameters, const OptimConfig& config,
                                          const Layout& layout) {
  const std::vector<ShardMap> maps = shard_maps(parameters, layout);
  std::vector<SlicedMatrix> sliced;
  for (const OwnedMatrix& matrix : matrix_owners(parameters, config, layout.dp_shard)) {
    SlicedMatrix& one = sliced.emplace_back(SlicedMatrix{matrix, {}});
    const ShardRange whole{matrix.begin, matrix.begin + matrix.shape.numel()};
    for (const ShardMap& map : maps) {
      const ShardRange held = overlap(map.of(matrix.parameter).range, whole);
      one.held.push_back({held.begin - matrix.begin, held.end - matrix.begin});
    }
  }
  return sliced;
}

int64_t slice_room(DType dtype, const ShardRange& slice) {
  return align_up(slice.size() * size_of(dtype)) / size_of(dtype);
}

std::vector<ScratchSpec> sliced_scratch(DeviceKind device, DType compute,
                                        const std::vector<SlicedMatrix>& matrices) {
  if (matrices.empty()) return {};
  const std::vector<ScratchSpec> any = muon_scratch(device, compute, matrices[0].matrix.shape);
  const DType dtype = any[kMuonX].dtype;
  int64_t elements = 0, gram = 0, acc_gram = 0, slices = 0;
  std::vector<int64_t> of_round(matrices[0].held.size());  // by rank
  int round = 0;
  for (const auto& [matrix, held] : matrices) {
    const std::vector<ScratchSpec> rows = muon_scratch(device, compute, matrix.shape);
    elements = std::max(elements, slice_room(dtype, {0, matrix.shape.numel()}));
    gram = std::max(gram, rows[kMuonGram].shape.numel());
    if (rows.size() > kMuonAccGram) acc_gram = std::max(acc_gram, rows[kMuonAccGram].shape.numel());
    if (matrix.round != std::exchange(round, matrix.round)) std::ranges::fill(of_round, 0);
    for (size_t rank = 0; rank < held.size(); ++rank) {
      if (static_cast<int>(rank) == matrix.owner) continue;
      of_round[rank] += slice_room(dtype, held[rank]);
      slices = std::max(slices, of_round[rank]);
    }
  }
  std::vector<ScratchSpec> scratch = {
      {dtype, {2, elements}}, {dtype, {2, elements}}, {dtype, {gram}},  {dtype, {gram}},
      any[kMuonPartials],     {dtype, {slices}},      {dtype, {slices}}};
  if (acc_gram > 0) scratch.push_back({any[kMuonPartials].dtype, {acc_gram}});
  return scratch;
}

}  // namespace ingot
