// Inside parallel: where gradients are added up, and when they are summed over ranks: those that
// share a block each keep the sum of their shard, replicas then sum equal shards, once a step.
//
// Either whole gradients are kept through the step and reduced in its last micro-step; or they are
// whole only around the ticks that write them, and shards take what each micro-step gives.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/async/lane.h"
#include "parallel/shard/data_groups.h"
#include "parallel/shard/store_blocks.h"

namespace ingot {

class BlockGradients {
 public:
  // All of which must outlive it.
  BlockGradients(Context& ctx, size_t num_parameters, std::span<const StoreBlock> blocks,
                 Lane& compute, DataGroups& groups);

  void begin(std::span<const BlockUse> order, bool last);
  // The compute lane has come to `tick`: it comes after reductions whose memory is free from then
  // on.
  void enter(int tick);
  GradientSlot slot(TensorId parameter);
  void release(int block);
  void end();  // the compute lane comes after all reductions

  void finish();  // of the step
  void start_step();

  // Whether the next micro-step reduces, and what it depends on; nothing where parameters differ.
  bool reduces(bool last) const;
  std::optional<std::string> record_key() const;
  void note_record(bool last);

 private:
  struct Parameter {
    size_t block = 0;
    Tensor gradient;       // of the whole row, in its shape
    bool written = false;  // holds something of this step that is not reduced
  };
  struct Block {
    std::vector<size_t> parameters;
    bool shard_written = false;  // the shard holds something of this step
    bool reduced = false;        // over all ranks, or under way
  };
  struct Reduction {
    size_t block;
    int until;  // the last tick of its memory
    Ticket ticket;
    // What is left to do when it is done, where BF16 was sent.
    bool widens = false, adds = false, sums_replicas = false;
  };

  bool communicates() const { return rows_.front().gradients.whole.defined(); }
  bool keeps() const { return rows_.front().keeps_gradients(); }
  // `complete`: nothing is added to them in this step any more. `narrow`: as the rows have it.
  void reduce(size_t block, bool complete, bool narrow);
  void zero_unwritten(size_t block);
  void complete(const Reduction& reduction);

  Context& ctx_;
  std::span<const StoreBlock> rows_;
  Lane& compute_;
  DataGroups& groups_;
  std::vector<Parameter> parameters_;
  std::vector<Block> blocks_;

  std::span<const BlockUse> order_;  // of the micro-step at hand
  bool last_ = false;
  int tick_ = -1;
  std::vector<Reduction> reductions_;  // that the compute lane does not come after yet
};

}  // namespace ingot
