// Orders of block uses for stores that have no model above them.
#pragma once

#include <vector>

#include "spec/rows/block_use.h"

namespace ingot::testing {

// Blocks forward, then backward, a tick each.
inline std::vector<BlockUse> forward_and_back(int num_blocks) {
  std::vector<BlockUse> order;
  for (int block = 0; block < num_blocks; ++block)
    order.push_back({block, Pass::Forward, static_cast<int>(order.size())});
  for (int block = num_blocks; block-- > 0;)
    order.push_back({block, Pass::Backward, static_cast<int>(order.size())});
  return order;
}

}  // namespace ingot::testing
