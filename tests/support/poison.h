// Overwrites what holds nothing at a tick, so that whoever reads it, or lives longer than its row
// says, shows.
#pragma once

#include <algorithm>
#include <limits>
#include <vector>

#include "core/device/arena.h"
#include "core/device/context.h"
#include "ops/memory.h"
#include "spec/layout/shard_range.h"
#include "spec/table/placed_tensors.h"
#include "support/lives_at.h"

namespace ingot::test {

// Fills the memory of all rows on ctx's device that are dead at `tick`, but for what live rows have
// of it, with NaN, as work of `ctx`. Returns the number of bytes.
inline int64_t poison_dead_rows(Context& ctx, const PlacedTensors& placed, int tick) {
  const std::vector<TensorSpec>& rows = placed.table().rows();
  const auto bytes_of = [&](size_t row) {  // in its arena
    const int64_t begin = placed.plan().offset[row];
    return ShardRange{begin, begin + align_up(rows[row].bytes())};
  };
  int64_t poisoned = 0;
  for (size_t dead = 0; dead < rows.size(); ++dead) {
    const Tensor tensor = placed[TensorId{static_cast<int32_t>(dead)}];
    if (lives_at(rows[dead], tick) || tensor.device != ctx.device) continue;
    const ShardRange own = bytes_of(dead);
    std::vector<ShardRange> live;
    for (size_t row = 0; row < rows.size(); ++row)
      if (rows[row].space == rows[dead].space && lives_at(rows[row], tick) &&
          bytes_of(row).begin < own.end && own.begin < bytes_of(row).end)
        live.push_back(bytes_of(row));
    std::sort(live.begin(), live.end(),
              [](const ShardRange& a, const ShardRange& b) { return a.begin < b.begin; });
    live.push_back({own.end, own.end});

    int64_t begin = own.begin;
    for (const ShardRange& range : live) {
      const int64_t end = std::min({range.begin, own.end, own.begin + rows[dead].bytes() / 4 * 4});
      if (begin < end) {
        auto* data = static_cast<char*>(tensor.data) + (begin - own.begin);
        fill(ctx, std::numeric_limits<float>::quiet_NaN(),
             Tensor::contiguous(data, DType::F32, {(end - begin) / 4}, tensor.device));
        poisoned += end - begin;
      }
      begin = std::max(begin, range.end);
    }
  }
  return poisoned;
}

}  // namespace ingot::test
