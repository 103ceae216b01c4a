#include "spec/rows/block_use.h"

#include <algorithm>

#include "spec/model/transformer_parameters.h"

namespace ingot {

Ticks ticks_of(const ModelConfig& config) {
  return {static_cast<int>(config.layers)};
}

std::vector<BlockUse> evaluation_uses(const ModelConfig& config) {
  const Ticks tick = ticks_of(config);
  std::vector<BlockUse> uses = {{0, Pass::Forward, tick.embedding()}};
  for (int layer = 0; layer < tick.L; ++layer)
    uses.push_back({layer_block(layer), Pass::Forward, tick.forward(layer)});
  if (config.tied) uses.push_back({0, Pass::Forward, tick.loss()});
  uses.push_back({head_block(config), Pass::Forward, tick.loss()});
  return uses;
}

std::vector<BlockUse> block_uses(const ModelConfig& config) {
  const Ticks tick = ticks_of(config);
  std::vector<BlockUse> uses = evaluation_uses(config);
  for (BlockUse& use : uses)
    if (use.tick == tick.loss()) use.pass = Pass::Loss;
  for (int layer = tick.L; layer-- > 0;)
    uses.push_back({layer_block(layer), Pass::Backward, tick.backward(layer)});
  uses.push_back({0, Pass::Backward, tick.last(), /*reads_weights=*/false});
  return uses;
}

std::vector<Lifetime> gathered_lives(std::span<const BlockUse> order, int block,
                                     const GatherRule& rule) {
  std::vector<Lifetime> lives;
  int before = 0;  // ticks that the first life would begin before the micro-step does
  for (const BlockUse& use : order) {
    if (use.block != block || !use.reads_weights) continue;
    const int first = std::max(0, use.tick - rule.ahead);
    if (lives.empty()) before = rule.ahead - use.tick;
    if (!lives.empty() &&
        (rule.whole == UnshardedWeights::ForwardToBackward || first <= lives.back().last + 1))
      lives.back().last = use.tick;
    else
      lives.push_back({first, use.tick});
  }
  if (!rule.again || before <= 0) return lives;
  const int last = order.back().tick, first = last + 1 - before;
  if (first <= lives.back().last + 1)
    lives.back().last = last;
  else
    lives.push_back({first, last});
  return lives;
}

std::vector<Lifetime> reduced_lives(std::span<const BlockUse> order, int block, int behind) {
  std::vector<Lifetime> lives;
  const int last = order.empty() ? 0 : order.back().tick;
  for (const BlockUse& use : order)
    if (use.block == block && use.writes_gradients())
      lives.push_back({use.tick, std::min(use.tick + behind, last)});
  return lives;
}

int first_gradient_tick(std::span<const BlockUse> order, int block) {
  const auto found = std::find_if(order.begin(), order.end(), [block](const BlockUse& use) {
    return use.block == block && use.writes_gradients();
  });
  return found == order.end() ? -1 : found->tick;
}

int last_gradient_tick(std::span<const BlockUse> order, int block) {
  const auto found = std::find_if(order.rbegin(), order.rend(), [block](const BlockUse& use) {
    return use.block == block && use.writes_gradients();
  });
  return found == order.rend() ? -1 : found->tick;
}

}  // namespace ingot
