// Inside parallel: when the weights of blocks are whole on a rank that owns a share of them, and
// what makes them whole. Where they always are, they are gathered in place after they changed,
// block by block ahead of their first use; where they are not, each time their row begins to live.
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
  // All of which must outlive it.
  BlockWeights(std::span<const StoreBlock> blocks, Lane& compute, Communicator& shards);

  // A micro-step or an evaluation. `last`: weights change after it.
  void begin(std::span<const BlockUse> order, bool last);
  // The compute lane has come to `tick`: memory of lives that begin with it is free behind a mark.
  void enter(int tick);
  void acquire(int block);
  void release(int block);
  bool is_acquired(int block) const { return at(block).users > 0; }
  void end();  // the compute lane comes after all gathers

  void changed();  // shards are new, nobody has a block acquired

  // Whether the next micro-step gathers, and what that depends on.
  bool gathers() const;
  std::string record_key() const;
  void note_record(bool last);

 private:
  struct Block {
    int users = 0;         // acquires not yet released
    bool current = false;  // between micro-steps: the whole row has the shards' values
    bool awaited = true;   // the compute lane comes after `gathered`
    Ticket gathered;
  };
  struct Gather {
    int tick;  // that it begins with
    int until;
    size_t block;
  };

  Block& at(int block);
  const Block& at(int block) const { return blocks_[static_cast<size_t>(block)]; }
  bool always_whole() const { return rows_.front().always_whole(); }
  void plan_changed(std::span<const BlockUse> order);
  void plan_lives(std::span<const BlockUse> order, bool last);

  std::span<const StoreBlock> rows_;
  Lane& compute_;
  Communicator& shards_;
  std::vector<Block> blocks_;
  std::vector<Gather> gathers_;  // of the micro-step at hand; the first next_ are begun
  size_t next_ = 0;
  std::vector<size_t> staying_;  // blocks whose whole weights outlive a micro-step but the last
  static constexpr int kNever = std::numeric_limits<int>::max();
  int stays_from_ = kNever;  // the tick from which on they do, in the micro-step at hand
  int tick_ = 0;
};

}  // namespace ingot
