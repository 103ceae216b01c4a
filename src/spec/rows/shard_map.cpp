#include "spec/rows/shard_map.h"

#include "core/error/error.h"
#include "spec/rows/block_layout.h"

namespace ingot {

ShardMap shard_map(const TensorTable& parameters, const Layout& layout, int rank) {
  check(layout.world() == layout.data_ranks(), ErrorCode::Internal,
        "a shard map expected ranks along dp_replicate and dp_shard only, got pp {}, cp {}, tp {}",
        layout.pp, layout.cp, layout.tp);
  const Coord coord = layout.at(rank);
  std::vector<Slice> slices(parameters.rows().size());
  for (const BlockLayout& block : block_layouts(parameters, layout.dp_shard))
    for (const BlockLayout::Entry& entry : block.entries) {
      const ShardRange range = block.part(entry, coord.dp_shard);
      const ShardRange share = shard_range(range.size(), layout.dp_replicate, coord.dp_replicate);
      slices[static_cast<size_t>(entry.parameter.row)] = {
          entry.parameter, range, {range.begin + share.begin, range.begin + share.end}};
    }
  return ShardMap(std::move(slices));
}

std::vector<ShardMap> shard_maps(const TensorTable& parameters, const Layout& layout) {
  std::vector<ShardMap> maps;
  for (int i = 0; i < layout.dp_shard; ++i) {
    Coord coord;
    coord.dp_shard = i;
    maps.push_back(shard_map(parameters, layout, layout.rank_at(coord)));
  }
  return maps;
}

}  // namespace ingot
