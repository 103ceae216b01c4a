// Internal to parallel: gathers a rank's unsharded weights and decides when. If they stay in memory
// for the whole run, they are gathered in place after an update, block by block, ahead of their
// first use. Otherwise they are gathered each time a lifetime of their row begins.
#pragma once

#include <limits>
#include <span>
#include <string>
#include <vector>

#include "core/async/lane.h"
#include "parallel/comm/communicator.h"
#include "parallel/shard/store_blocks.h"

namespace ingot {

class BlockWeights {
 public:
  // All arguments must outlive this object.
  BlockWeights(std::span<const StoreBlock> blocks, Lane& compute, Communicator& shards);

  // Begins a micro-step or an evaluation. `last`: the weights change after it.
  void begin(std::span<const BlockUse> order, bool last);
  // The compute lane has reached `tick`: memory of lifetimes that begin there is free after a mark.
  void enter(int tick);
  void acquire(int block);
  void release(int block);
  bool is_acquired(int block) const { return at(block).users > 0; }
  void end();  // orders the compute lane after all gathers

  void changed();  // the shards have changed; no block may be acquired

  // Whether the next micro-step gathers, and a key of what that depends on.
  bool gathers() const;
  std::string record_key() const;
  void note_record(bool last);

 private:
  struct Block {
    int users = 0;         // acquires not yet released
    bool current = false;  // between micro-steps: the unsharded row matches the shards
    bool awaited = true;   // the compute lane is ordered after `gathered`
    Ticket gathered;
  };
  struct Gather {
    int tick;  // at which it begins
    int until;
    size_t block;
  };

  Block& at(int block);
  const Block& at(int block) const { return blocks_[static_cast<size_t>(block)]; }
  bool always_unsharded() const { return rows_.front().always_unsharded(); }
  void plan_changed(std::span<const BlockUse> order);
  void plan_lives(std::span<const BlockUse> order, bool last);

  std::span<const StoreBlock> rows_;
  Lane& compute_;
  Communicator& shards_;
  std::vector<Block> blocks_;
  std::vector<Gather> gathers_;  // of the current micro-step; the first next_ have begun
  size_t next_ = 0;
  std::vector<size_t> staying_;  // blocks that stay gathered after every micro-step but the last
  static constexpr int kNever = std::numeric_limits<int>::max();
  int stays_from_ = kNever;  // the tick of the current micro-step from which on they stay
  int tick_ = 0;
};

}  // namespace ingot
