// Internal to parallel: accumulation of gradients and their reduction over ranks. Ranks that shard
// a block each keep the sum of their shard (reduce-scatter); once a step replicas add up equal
// shards (all-reduce).
//
// There are two modes. Either unsharded gradients are kept through the step and reduced in its last
// micro-step. Or they exist only around the ticks that write them, and each micro-step is reduced
// into the shards.
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
  // All arguments must outlive this object.
  BlockGradients(Context& ctx, size_t num_parameters, std::span<const StoreBlock> blocks,
                 Lane& compute, DataGroups& groups);

  void begin(std::span<const BlockUse> order, bool last);
  // The compute lane has reached `tick`: orders it after reductions whose memory is reused from
  // then on.
  void enter(int tick);
  GradientSlot slot(TensorId parameter);
  void release(int block);
  void end();  // orders the compute lane after all reductions

  void finish();  // at the end of the step
  void start_step();

  // Whether the next micro-step reduces, and a key of what that depends on; no key if parameters
  // differ.
  bool reduces(bool last) const;
  std::optional<std::string> record_key() const;
  void note_record(bool last);

 private:
  struct Parameter {
    size_t block = 0;
    Tensor gradient;       // of the unsharded row, in the parameter's shape
    bool written = false;  // holds a gradient of this step that is not reduced yet
  };
  struct Block {
    std::vector<size_t> parameters;
    bool shard_written = false;  // the shard holds a gradient of this step
    bool reduced = false;        // over all ranks, done or in flight
  };
  struct Reduction {
    size_t block;
    int until;  // the last tick of its memory
    Ticket ticket;
    // Steps after the collective, if BF16 was sent.
    bool widens = false, adds = false, sums_replicas = false;
  };

  bool communicates() const { return rows_.front().gradients.whole.defined(); }
  bool keeps() const { return rows_.front().keeps_gradients(); }
  // `complete`: this step adds nothing more to them. `narrow`: send BF16, in the rows for it.
  void reduce(size_t block, bool complete, bool narrow);
  void zero_unwritten(size_t block);
  void complete(const Reduction& reduction);

  Context& ctx_;
  std::span<const StoreBlock> rows_;
  Lane& compute_;
  DataGroups& groups_;
  std::vector<Parameter> parameters_;
  std::vector<Block> blocks_;

  std::span<const BlockUse> order_;  // of the current micro-step
  bool last_ = false;
  int tick_ = -1;
  std::vector<Reduction> reductions_;  // the compute lane is not ordered after these yet
};

}  // namespace ingot
