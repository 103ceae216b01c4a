#include "parallel/shard/block_gradients.h"

#include <algorithm>
#include <utility>

#include "core/error/error.h"
#include "ops/memory.h"
#include "ops/reduce.h"

namespace ingot {
namespace {

// Of the life that `tick` is in.
int last_tick(const std::vector<Lifetime>& lives, int tick) {
  const auto found = std::find_if(lives.begin(), lives.end(),
                                  [tick](const Lifetime& life) { return life.at(tick); });
  return found == lives.end() ? tick : found->last;
}

}  // namespace

BlockGradients::BlockGradients(Context& ctx, size_t num_parameters,
                               std::span<const StoreBlock> blocks, Lane& compute,
                               DataGroups& groups)
    : ctx_(ctx),
      rows_(blocks),
      compute_(compute),
      groups_(groups),
      parameters_(num_parameters),
      blocks_(blocks.size()) {
  for (size_t block = 0; block < blocks.size(); ++block)
    for (const BlockLayout::Entry& entry : blocks[block].layout.entries) {
      const auto i = static_cast<size_t>(entry.parameter.row);
      auto& its = blocks_[block].parameters;
      parameters_[i] = {block, blocks[block].gradient_views[its.size()]};
      its.push_back(i);
    }
}

void BlockGradients::begin(std::span<const BlockUse> order, bool last) {
  order_ = order;
  last_ = last;
  tick_ = -1;
}

void BlockGradients::enter(int tick) {
  tick_ = tick;
  for (size_t i = 0; i < reductions_.size();) {
    if (reductions_[i].until >= tick) {
      ++i;
      continue;
    }
    const Reduction done = reductions_[i];
    reductions_.erase(reductions_.begin() + static_cast<std::ptrdiff_t>(i));
    complete(done);
  }
}

void BlockGradients::end() {
  while (!reductions_.empty()) {
    const Reduction done = reductions_.front();
    reductions_.erase(reductions_.begin());
    complete(done);
  }
}

GradientSlot BlockGradients::slot(TensorId id) {
  Parameter& parameter = parameters_[static_cast<size_t>(id.row)];
  check(!blocks_[parameter.block].reduced, ErrorCode::Internal,
        "store: a gradient of block {} is written after it was summed over the ranks",
        parameter.block);
  const bool has_room =
      keeps() || std::any_of(order_.begin(), order_.end(), [&](const BlockUse& use) {
        return use.block == static_cast<int>(parameter.block) && use.tick == tick_ &&
               use.writes_gradients();
      });
  check(has_room, ErrorCode::Internal,
        "store: a gradient of block {} is written at tick {}, which is not its turn",
        parameter.block, tick_);
  const Accumulate accumulate = parameter.written ? Accumulate::Yes : Accumulate::No;
  parameter.written = true;
  return {parameter.gradient, accumulate};
}

void BlockGradients::release(int block) {
  check(block >= 0 && block < static_cast<int>(blocks_.size()), ErrorCode::Internal,
        "store: expected a block in [0, {}), got {}", blocks_.size(), block);
  if (!communicates()) return;
  const bool is_complete = last_ && last_gradient_tick(order_, block) == tick_;
  const auto at = static_cast<size_t>(block);
  if (is_complete || !keeps()) reduce(at, is_complete, rows_[at].narrow.whole.defined());
}

// Whatever memory holds where nobody wrote: the last step's, or another row's.
void BlockGradients::zero_unwritten(size_t block) {
  for (const size_t i : blocks_[block].parameters)
    if (!std::exchange(parameters_[i].written, true)) zero(ctx_, parameters_[i].gradient);
}

void BlockGradients::reduce(size_t block, bool is_complete, bool narrow) {
  Block& state = blocks_[block];
  const StoreBlock& rows = rows_[block];
  const bool has_news = keeps() || std::any_of(state.parameters.begin(), state.parameters.end(),
                                               [this](size_t i) { return parameters_[i].written; });
  Reduction reduction{block, Lifetime::kForever, {}};
  if (!has_news && !(is_complete && state.shard_written)) {
    state.reduced = is_complete;
    return;
  }
  const UnshardedRow& sent = narrow ? rows.narrow : rows.gradients;
  // Kept gradients are summed where they are, the others go into the shard.
  const Tensor part = keeps() || narrow ? sent.own : rows.gradient_shard;
  if (has_news) {
    zero_unwritten(block);
    reduction.until = last_tick(sent.lives, tick_);
    reduction.widens = narrow;
    reduction.adds = narrow && !keeps() && state.shard_written;
    // What the shard has of earlier micro-steps goes into this rank's share of the sum.
    if (!narrow && !keeps() && state.shard_written)
      add(ctx_, rows.gradient_shard, rows.gradients.own);
    if (narrow) cast(ctx_, rows.gradients.whole, rows.narrow.whole);
  }
  reduction.ticket = compute_.mark("gradients");
  if (has_news && groups_.shards->size() > 1)
    reduction.ticket =
        groups_.shards->reduce_scatter(sent.whole, part, Reduce::Sum, reduction.ticket);
  // One rank alone is its own replica.
  const bool has_replicas = groups_.replicas->size() > 1 || groups_.shards->size() == 1;
  if (is_complete && has_replicas) {
    // What several micro-steps added up is not rounded again.
    reduction.sums_replicas = has_news && narrow && !keeps();
    if (!reduction.sums_replicas)
      reduction.ticket = groups_.replicas->all_reduce(has_news ? part : rows.gradient_shard,
                                                      Reduce::Sum, reduction.ticket);
  }
  state.shard_written = true;
  state.reduced = is_complete;
  if (!keeps())
    for (const size_t i : state.parameters) parameters_[i].written = false;
  reductions_.push_back(reduction);
}

void BlockGradients::complete(const Reduction& done) {
  compute_.after(done.ticket);
  if (!done.widens) return;
  const StoreBlock& rows = rows_[done.block];
  // A sum in BF16 joins those of earlier micro-steps by way of the whole row's own place.
  cast(ctx_, rows.narrow.own, done.adds ? rows.gradients.own : rows.gradient_shard);
  if (done.adds) add(ctx_, rows.gradients.own, rows.gradient_shard);
  if (done.sums_replicas)
    reductions_.push_back({done.block, Lifetime::kForever,
                           groups_.replicas->all_reduce(rows.gradient_shard, Reduce::Sum,
                                                        compute_.mark("gradients"))});
}

void BlockGradients::finish() {
  for (const Parameter& parameter : parameters_)
    check(keeps() || !parameter.written, ErrorCode::Internal,
          "store: the step ends while gradients of block {} are not released", parameter.block);
  end();
  for (size_t block = 0; block < blocks_.size(); ++block) {
    if (blocks_[block].reduced) continue;
    // Where no micro-step was the last: what is left of the sums. Rows for BF16 hold other things
    // by then.
    if (communicates())
      reduce(block, /*is_complete=*/true, /*narrow=*/false);
    else
      zero_unwritten(block);
  }
  end();
  for (size_t block = 0; block < blocks_.size(); ++block)
    if (!keeps() && !blocks_[block].shard_written)
      zero(ctx_, rows_[block].gradient_shard);  // still holds the last step's
}

void BlockGradients::start_step() {
  end();  // of a step that failed half-way
  for (Parameter& parameter : parameters_) parameter.written = false;
  for (Block& block : blocks_) block.shard_written = block.reduced = false;
}

bool BlockGradients::reduces(bool last) const {
  return communicates() && (last || !keeps());
}

std::optional<std::string> BlockGradients::record_key() const {
  const bool written = parameters_.front().written;
  const bool shard_written = blocks_.front().shard_written;
  const bool equal = std::all_of(parameters_.begin(), parameters_.end(),
                                 [&](const Parameter& p) { return p.written == written; }) &&
                     std::all_of(blocks_.begin(), blocks_.end(),
                                 [&](const Block& b) { return b.shard_written == shard_written; });
  if (!equal) return std::nullopt;
  return fmt::format("{}", written || shard_written ? "adds" : "writes");
}

void BlockGradients::note_record(bool last) {
  for (Parameter& parameter : parameters_) parameter.written = keeps();
  for (Block& block : blocks_) {
    block.shard_written = block.shard_written || reduces(last);
    block.reduced = communicates() && last;
  }
}

}  // namespace ingot
