// Internal to parallel: the groups of ranks that a store communicates with. The world chooses the
// transport for gradients of a single rank: none, except in a benchmark that times it.
#pragma once

#include <memory>

#include "parallel/comm/world.h"
#include "spec/layout/layout.h"

namespace ingot {

struct DataGroups {
  std::unique_ptr<Communicator> replicas;  // ranks that hold the same shards
  std::unique_ptr<Communicator> shards;    // ranks whose shards together are the parameters

  DataGroups(Context& ctx, World& world, const Layout& layout)
      : replicas(group(ctx, world, layout, Axis::DpReplicate)),
        shards(group(ctx, world, layout, Axis::DpShard)) {}

 private:
  static std::unique_ptr<Communicator> group(Context& ctx, World& world, const Layout& layout,
                                             Axis axis) {
    if (layout.size(axis) == 1 && world.size() > 1) return single_communicator(ctx);
    return world.communicator(layout.group(axis, world.rank()), ctx);
  }
};

}  // namespace ingot
