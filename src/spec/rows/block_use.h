// The order in which a micro-step uses blocks of weights, and the ticks in which tensor lifetimes
// are counted. Tensor table, model and parameter store all use it. Blocks: 0 = embedding, 1 … L =
// layers, L+1 = final norm and head.
#pragma once

#include <span>
#include <vector>

#include "spec/layout/layout.h"
#include "spec/model/model_config.h"
#include "spec/table/tensor_table.h"

namespace ingot {

// Ticks of a micro-step: 0 the embedding; 1 … L the layers' forward passes; L+1 final norm, head
// and loss; then the layers' backward passes from last to first; then the embedding's gradient.
struct Ticks {
  int L;
  int embedding() const { return 0; }
  int forward(int layer) const { return 1 + layer; }
  int loss() const { return L + 1; }
  int backward(int layer) const { return 2 * L + 1 - layer; }
  int last() const { return 2 * L + 2; }
};

Ticks ticks_of(const ModelConfig& config);

// Loss: the head's forward and backward pass together.
enum class Pass { Forward, Loss, Backward };

struct BlockUse {
  int block = 0;
  Pass pass = Pass::Forward;
  int tick = 0;
  bool reads_weights = true;  // false: the embedding's backward pass only writes a gradient

  bool writes_gradients() const { return pass != Pass::Forward; }
  bool operator==(const BlockUse&) const = default;
};

// The uses of a training micro-step, by tick. A tied head also uses the embedding's block.
std::vector<BlockUse> block_uses(const ModelConfig& config);
// The uses of an evaluation, which ends with the losses and writes no gradient.
std::vector<BlockUse> evaluation_uses(const ModelConfig& config);

// When weights are gathered for their uses.
struct GatherRule {
  UnshardedWeights whole = UnshardedWeights::AroundUses;
  int ahead = 1;  // ticks before a use in which they may be gathered
  bool again =
      false;  // another micro-step follows with the same weights; its first gathers need room
};

// When the gathered weights of `block` occupy memory: from `ahead` ticks before a use to that use,
// or to the last use; uses with at most one tick between them share a lifetime. With `again`, a
// lifetime that would begin before tick 0 begins at the end of the previous micro-step.
std::vector<Lifetime> gathered_lives(std::span<const BlockUse> order, int block,
                                     const GatherRule& rule = {});
// When the unsharded gradients of `block` occupy memory: from a use that writes them until `behind`
// ticks after it, in which they may be reduced.
std::vector<Lifetime> reduced_lives(std::span<const BlockUse> order, int block, int behind = 1);

// The ticks of the first and the last write to gradients of `block`; -1: never.
int first_gradient_tick(std::span<const BlockUse> order, int block);
int last_gradient_tick(std::span<const BlockUse> order, int block);

}  // namespace ingot
