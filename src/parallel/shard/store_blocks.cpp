#include "parallel/shard/store_blocks.h"

#include <algorithm>

#include "core/error/error.h"
#include "spec/rows/store_rows.h"

namespace ingot {
namespace {

// Rows of one table, by block.
class RowFinder {
 public:
  RowFinder(const PlacedTensors& placed, int shard_rank)
      : placed_(placed), shard_rank_(shard_rank) {}

  bool has(StoreRow what, size_t block) const {
    return placed_.table().try_find(store_row_name(what, block)).valid();
  }
  Tensor find(StoreRow what, size_t block) const {
    return placed_.find(store_row_name(what, block));
  }
  UnshardedRow whole(StoreRow what, size_t block, int64_t shard_elements) const {
    const TensorId id = placed_.table().find(store_row_name(what, block));
    const Tensor row = placed_[id];
    const int64_t begin = shard_rank_ * shard_elements;
    return {row, row.slice(0, begin, begin + shard_elements), placed_.table()[id].lives};
  }

 private:
  const PlacedTensors& placed_;
  int shard_rank_;
};

// The optimizer's states of a block: their rows, in the order of the table.
std::vector<TensorId> state_rows(const TensorTable& table, int block) {
  std::vector<TensorId> rows;
  for (int32_t row = 0; row < static_cast<int32_t>(table.rows().size()); ++row)
    if (table[{row}].kind == TensorKind::OptimizerState && table[{row}].block == block)
      rows.push_back({row});
  return rows;
}

}  // namespace

std::vector<StoreBlock> store_blocks(const TensorTable& parameters, const Layout& layout,
                                     int shard_rank, const PlacedTensors& placed) {
  const RowFinder rows(placed, shard_rank);
  std::vector<StoreBlock> blocks;
  for (BlockLayout& block : block_layouts(parameters, layout.dp_shard)) {
    const size_t i = blocks.size();
    const int64_t S = block.shard_elements;
    // Where there is no row for the whole, the row of the shard is it.
    const auto whole = [&](StoreRow row, StoreRow shard) {
      return rows.whole(rows.has(row, i) ? row : shard, i, S);
    };
    const auto own = [&](StoreRow row, StoreRow shard, const UnshardedRow& its_whole) {
      return rows.has(row, i) ? rows.find(shard, i) : its_whole.own;
    };
    StoreBlock one;
    one.weights = whole(StoreRow::UnshardedWeights, StoreRow::Weights);
    one.weight_shard = own(StoreRow::UnshardedWeights, StoreRow::Weights, one.weights);
    if (rows.has(StoreRow::Gradients, i)) {
      one.gradients = whole(StoreRow::UnshardedGradients, StoreRow::Gradients);
      one.gradient_shard = own(StoreRow::UnshardedGradients, StoreRow::Gradients, one.gradients);
    }
    if (rows.has(StoreRow::NarrowGradients, i))
      one.narrow = rows.whole(StoreRow::NarrowGradients, i, S);
    for (const BlockLayout::Entry& entry : block.entries) {
      const TensorSpec& parameter = parameters[entry.parameter];
      const auto view = [&](const Tensor& row) {
        return row.slice(0, entry.begin, entry.begin + entry.numel).reshape(parameter.shape);
      };
      one.weight_views.push_back(view(one.weights.whole));
      one.gradient_views.push_back(
          one.gradients.whole.defined()
              ? view(one.gradients.whole)
              : placed.find(gradient_row_name(parameter.name)).reshape(parameter.shape));
    }
    one.layout = std::move(block);
    blocks.push_back(std::move(one));
  }
  return blocks;
}

std::vector<ParameterShard> store_shards(const std::vector<StoreBlock>& blocks, const ShardMap& map,
                                         int shard_rank, const PlacedTensors& placed) {
  const TensorTable& table = placed.table();
  std::vector<ParameterShard> shards(map.slices().size());
  for (size_t i = 0; i < blocks.size(); ++i) {
    const StoreBlock& block = blocks[i];
    // Part of `row`, which has those of `parameters` packed.
    const auto cut = [&](const Tensor& row, const std::vector<TensorId>& parameters,
                         const auto& take) {
      const PackedParts packed = packed_parts(block.layout, parameters, shard_rank);
      for (size_t p = 0; p < parameters.size(); ++p) {
        ParameterShard& shard = shards[static_cast<size_t>(parameters[p].row)];
        const int64_t begin = packed.begins[p];
        take(shard, row.slice(0, begin, begin + map.of(parameters[p]).range.size()));
      }
    };
    std::vector<TensorId> all;
    for (const BlockLayout::Entry& entry : block.layout.entries) {
      all.push_back(entry.parameter);
      ParameterShard& shard = shards[static_cast<size_t>(entry.parameter.row)];
      shard.parameter = entry.parameter;
      shard.range = map.of(entry.parameter).range;
    }
    cut(block.weight_shard, all,
        [](ParameterShard& shard, const Tensor& part) { shard.weight = shard.master = part; });
    if (block.gradient_shard.defined())
      cut(block.gradient_shard, all,
          [](ParameterShard& shard, const Tensor& part) { shard.gradient = part; });
    else
      for (size_t p = 0; p < all.size(); ++p) {
        const Tensor& whole = block.gradient_views[p];
        shards[static_cast<size_t>(all[p].row)].gradient = whole.reshape({whole.numel()});
      }
    if (const Tensor masters = placed.try_find(store_row_name(StoreRow::Masters, i));
        masters.defined())
      cut(masters, all, [](ParameterShard& shard, const Tensor& part) { shard.master = part; });
    for (const TensorId row : state_rows(table, static_cast<int>(i)))
      cut(placed[row], table[row].parameters, [&](ParameterShard& shard, const Tensor& part) {
        shard.state_names.push_back(state_of_row(table[row].name));
        shard.states.push_back(part);
      });
  }
  return shards;
}

}  // namespace ingot
