#include "parallel/shard/block_weights.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "core/error/error.h"

namespace ingot {

BlockWeights::BlockWeights(std::span<const StoreBlock> blocks, Lane& compute, Communicator& shards)
    : rows_(blocks), compute_(compute), shards_(shards), blocks_(blocks.size()) {}

BlockWeights::Block& BlockWeights::at(int block) {
  check(block >= 0 && block < static_cast<int>(blocks_.size()), ErrorCode::Internal,
        "store: expected a block in [0, {}), got {}", blocks_.size(), block);
  return blocks_[static_cast<size_t>(block)];
}

void BlockWeights::begin(std::span<const BlockUse> order, bool last) {
  gathers_.clear();
  next_ = 0;
  stays_from_ = kNever;
  if (shards_.size() == 1) return;
  if (always_unsharded())
    plan_changed(order);
  else
    plan_lives(order, last);
}

void BlockWeights::plan_changed(std::span<const BlockUse> order) {
  const auto first_use = [&](size_t block) {
    const auto found = std::find_if(order.begin(), order.end(), [&](const BlockUse& use) {
      return use.block == static_cast<int>(block);
    });
    return static_cast<int>(found - order.begin());
  };
  for (size_t block = 0; block < blocks_.size(); ++block)
    if (!blocks_[block].current) gathers_.push_back({0, first_use(block), block});
  std::stable_sort(gathers_.begin(), gathers_.end(),
                   [](const Gather& a, const Gather& b) { return a.until < b.until; });
}

void BlockWeights::plan_lives(std::span<const BlockUse> order, bool last) {
  const bool trains = !order.empty() && order.back().writes_gradients();
  const int end = order.empty() ? 0 : order.back().tick;
  if (trains) staying_.clear();
  for (size_t block = 0; block < blocks_.size(); ++block) {
    const std::vector<Lifetime>& lives = rows_[block].weights.lives;
    const bool stays = trains && lives.front().first == 0 && lives.back().last == end;
    if (stays) staying_.push_back(block);
    bool there = std::exchange(blocks_[block].current, false);
    for (const Lifetime& life : lives) {
      const bool is_read = std::any_of(order.begin(), order.end(), [&](const BlockUse& use) {
        return use.block == static_cast<int>(block) && use.reads_weights && life.at(use.tick);
      });
      const bool for_next = stays && !last && life.last == end;
      if ((is_read && !there) || (for_next && !is_read))
        gathers_.push_back({life.first, life.last, block});
      there = false;
    }
  }
  std::sort(gathers_.begin(), gathers_.end(), [](const Gather& a, const Gather& b) {
    return std::tuple(a.tick, a.until, a.block) < std::tuple(b.tick, b.until, b.block);
  });
  if (trains && !last) stays_from_ = end;
}

void BlockWeights::enter(int tick) {
  tick_ = tick;
  Ticket room;
  bool marked = false;
  for (; next_ < gathers_.size() && gathers_[next_].tick <= tick; ++next_) {
    if (!std::exchange(marked, true)) room = compute_.mark("room for weights");
    const size_t block = gathers_[next_].block;
    const StoreBlock& rows = rows_[block];
    blocks_[block].gathered = shards_.all_gather(rows.weight_shard, rows.weights.whole, room);
    blocks_[block].awaited = false;
    if (always_unsharded()) blocks_[block].current = true;
  }
}

void BlockWeights::acquire(int block) {
  Block& one = at(block);
  if (!one.awaited) compute_.after(one.gathered);
  one.awaited = true;
  ++one.users;
}

void BlockWeights::release(int block) {
  Block& one = at(block);
  check(one.users > 0, ErrorCode::Internal, "store: release of block {}, which is not acquired",
        block);
  --one.users;
}

void BlockWeights::end() {
  for (Block& block : blocks_) {
    if (!block.awaited) compute_.after(block.gathered);
    block.awaited = true;
    block.users = 0;
  }
  // Unless the micro-step was abandoned before.
  if (tick_ >= std::exchange(stays_from_, kNever))
    for (const size_t block : staying_) blocks_[block].current = true;
}

void BlockWeights::changed() {
  for (const Block& block : blocks_)
    check(block.users == 0, ErrorCode::Internal,
          "store: weights published while block {} is acquired", &block - blocks_.data());
  end();
  for (Block& block : blocks_) block.current = false;
}

bool BlockWeights::gathers() const {
  if (shards_.size() == 1) return false;
  return !always_unsharded() ||
         std::any_of(blocks_.begin(), blocks_.end(), [](const Block& b) { return !b.current; });
}

std::string BlockWeights::record_key() const {
  std::string key;
  if (shards_.size() > 1)
    for (const Block& block : blocks_) key += block.current ? '1' : '0';
  return key;
}

void BlockWeights::note_record(bool last) {
  if (shards_.size() == 1) return;
  for (Block& block : blocks_) block.current = always_unsharded();
  if (!always_unsharded() && !last)
    for (const size_t block : staying_) blocks_[block].current = true;
}

}  // namespace ingot
