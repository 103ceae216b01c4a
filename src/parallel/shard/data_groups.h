// Inside parallel: the groups of ranks that a store talks to. The world says what carries the
// gradients of one rank alone, which is nothing unless it is made to time that.
#pragma once

#include <memory>

#include "parallel/comm/world.h"
#include "spec/layout/layout.h"

namespace ingot {

struct DataGroups {
  std::unique_ptr<Communicator> replicas;  // that hold the same shards
  std::unique_ptr<Communicator> shards;    // whose shards together are the parameters

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
