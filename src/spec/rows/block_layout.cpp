#include "spec/rows/block_layout.h"

#include <algorithm>

#include "core/error/error.h"

namespace ingot {

ShardRange BlockLayout::shard(int rank) const {
  check(rank >= 0 && rank < ranks, ErrorCode::Internal, "expected a rank below {}, got {}", ranks,
        rank);
  return {rank * shard_elements, (rank + 1) * shard_elements};
}

ShardRange BlockLayout::part(const Entry& entry, int rank) const {
  const ShardRange own = shard(rank);
  const auto inside = [&](int64_t at) {
    return std::clamp<int64_t>(at - entry.begin, 0, entry.numel);
  };
  return {inside(own.begin), inside(own.end)};
}

std::vector<BlockLayout> block_layouts(const TensorTable& parameters, int ranks) {
  std::vector<BlockLayout> layouts;
  int32_t row = 0;
  for (const TensorSpec& parameter : parameters.rows()) {
    check(parameter.block >= 0, ErrorCode::Internal,
          "store: parameter {} belongs to no block; expected a block of 0 or more", parameter.name);
    const auto block = static_cast<size_t>(parameter.block);
    if (block >= layouts.size()) layouts.resize(block + 1);
    BlockLayout& layout = layouts[block];
    const int64_t begin =
        layout.entries.empty()
            ? 0
            : align_elements(layout.entries.back().begin + layout.entries.back().numel);
    layout.entries.push_back({TensorId{row++}, begin, parameter.shape.numel()});
  }
  for (BlockLayout& layout : layouts) {
    layout.ranks = ranks;
    if (layout.entries.empty()) continue;
    const BlockLayout::Entry& last = layout.entries.back();
    layout.shard_elements = align_elements(padded_shard_size(last.begin + last.numel, ranks));
  }
  return layouts;
}

PackedParts packed_parts(const BlockLayout& block, const std::vector<TensorId>& parameters,
                         int rank) {
  PackedParts packed;
  for (const BlockLayout::Entry& entry : block.entries) {
    if (std::find(parameters.begin(), parameters.end(), entry.parameter) == parameters.end())
      continue;
    packed.begins.push_back(packed.num_elements);
    packed.num_elements += align_elements(block.part(entry, rank).size());
  }
  return packed;
}

}  // namespace ingot
