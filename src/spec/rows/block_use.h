// The order in which a micro-step uses blocks of weights, and the ticks that its tensors' lives are
// counted in: one truth for the tensor table, the model and the parameter store. Blocks: 0 =
// embedding, 1 … L = layers, L+1 = final norm and head.
#pragma once

#include <span>
#include <vector>

#include "spec/layout/layout.h"
#include "spec/model/model_config.h"
#include "spec/table/tensor_table.h"

namespace ingot {

// Ticks of a micro-step: 0 the embedding, 1 … L the layers forward, L+1 final norm, head and loss,
// then the layers backward from the last to the first, and the embedding's gradient.
struct Ticks {
  int L;
  int embedding() const { return 0; }
  int forward(int layer) const { return 1 + layer; }
  int loss() const { return L + 1; }
  int backward(int layer) const { return 2 * L + 1 - layer; }
  int last() const { return 2 * L + 2; }
};

Ticks ticks_of(const ModelConfig& config);

// Loss: the head's forward and backward at once.
enum class Pass { Forward, Loss, Backward };

struct BlockUse {
  int block = 0;
  Pass pass = Pass::Forward;
  int tick = 0;
  bool reads_weights = true;  // the embedding's backward pass only writes a gradient

  bool writes_gradients() const { return pass != Pass::Forward; }
  bool operator==(const BlockUse&) const = default;
};

// A training micro-step's uses, by tick; a tied head uses the embedding's block beside its own.
std::vector<BlockUse> block_uses(const ModelConfig& config);
// Those of an evaluation, which ends with the losses and writes no gradient.
std::vector<BlockUse> evaluation_uses(const ModelConfig& config);

// How weights are gathered for their uses.
struct GatherRule {
  WholeWeights whole = WholeWeights::AroundUses;
  int ahead = 1;  // ticks before a use, while which they may be gathered
  bool again =
      false;  // a micro-step with the same weights follows, whose first ticks need room too
};

// When the gathered weights of `block` hold memory: from `ahead` ticks before a use to the use, or
// to the last one; uses with at most one tick between share a life. With `again` what would begin
// before tick 0 begins at the end of the micro-step before.
std::vector<Lifetime> gathered_lives(std::span<const BlockUse> order, int block,
                                     const GatherRule& rule = {});
// When whole gradients of `block` do: from a use that writes them through `behind` ticks after it,
// while which they may be reduced.
std::vector<Lifetime> reduced_lives(std::span<const BlockUse> order, int block, int behind = 1);

// When gradients of `block` are written for the first and for the last time; -1: never.
int first_gradient_tick(std::span<const BlockUse> order, int block);
int last_gradient_tick(std::span<const BlockUse> order, int block);

}  // namespace ingot
