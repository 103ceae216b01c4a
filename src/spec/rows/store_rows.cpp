#include "spec/rows/store_rows.h"

#include <algorithm>
#include <utility>

#include "core/error/error.h"
#include "spec/rows/optimizer_states.h"

namespace ingot {
namespace {

using Lives = std::vector<Lifetime>;

// A state that some parameters of a block have.
struct BlockState {
  size_t place;  // in the order in which an optimizer declares its states
  StateSpec state;
  std::vector<TensorId> parameters;
};

std::vector<BlockState> states_of(const BlockLayout& block, const TensorTable& parameters,
                                  DType compute, const OptimConfig& optim) {
  std::vector<BlockState> all;
  for (const BlockLayout::Entry& entry : block.entries) {
    const auto states = optimizer_states(optim, compute, parameters[entry.parameter]);
    for (size_t place = 0; place < states.size(); ++place) {
      auto found = std::find_if(all.begin(), all.end(), [&](const BlockState& one) {
        return one.place == place && one.state == states[place];
      });
      if (found == all.end()) found = all.insert(all.end(), {place, states[place], {}});
      found->parameters.push_back(entry.parameter);
    }
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const BlockState& a, const BlockState& b) { return a.place < b.place; });
  return all;
}

// Of the rank that holds most of them.
int64_t packed_elements(const BlockLayout& block, const std::vector<TensorId>& parameters) {
  int64_t most = 0;
  for (int rank = 0; rank < block.ranks; ++rank)
    most = std::max(most, packed_parts(block, parameters, rank).num_elements);
  return most;
}

bool is_optimizers(TensorKind kind) {
  return kind == TensorKind::MasterWeight || kind == TensorKind::OptimizerState;
}

// The rows of one block.
class BlockRows {
 public:
  BlockRows(TensorTable& table, size_t number, const BlockLayout& block,
            const StoreOptions& options)
      : table_(table), number_(number), block_(block), options_(options) {
    for (const BlockLayout::Entry& entry : block.entries) all_.push_back(entry.parameter);
  }

  void add(StoreRow what, TensorKind kind, int64_t elements, DType dtype, Lives lives) {
    add(store_row_name(what, number_), kind, elements, dtype, std::move(lives), all_);
  }
  void add_gradients(const TensorTable& parameters, DType dtype) {
    for (const BlockLayout::Entry& entry : block_.entries)
      add(gradient_row_name(parameters[entry.parameter].name), TensorKind::Gradient, entry.numel,
          dtype, from_first_write(), {entry.parameter});
  }
  void add_state(const BlockState& one) {
    add(state_row_name(one.state.name, one.state.dtype, number_), TensorKind::OptimizerState,
        packed_elements(block_, one.parameters), one.state.dtype, {Lifetime{}}, one.parameters);
  }

  int64_t shard() const { return block_.shard_elements; }
  int64_t whole() const { return block_.num_elements(); }

  Lives gathered() const {
    return gathered_lives(options_.order, block(),
                          {.whole = options_.unsharded_weights,
                           .ahead = options_.overlap_ticks,
                           .again = !options_.one_micro_step});
  }
  Lives reduced() const { return reduced_lives(options_.order, block(), options_.overlap_ticks); }
  // Of what is reduced once a step.
  Lives reduced_at_last() const { return {reduced().back()}; }
  Lives from_first_write() const {
    return {{options_.one_micro_step ? first_write() : 0, Lifetime::kForever}};
  }
  int first_write() const {
    const int tick = first_gradient_tick(options_.order, block());
    check(tick >= 0, ErrorCode::Internal,
          "store rows: expected an order of uses that writes gradients of block {}, got none",
          number_);
    return tick;
  }

 private:
  void add(std::string name, TensorKind kind, int64_t elements, DType dtype, Lives lives,
           std::vector<TensorId> parameters) {
    TensorSpec row;
    row.name = std::move(name);
    row.shape = {elements};
    row.dtype = dtype;
    row.kind = kind;
    if (options_.offload_optimizer && is_optimizers(kind)) row.space = MemorySpace::Pinned;
    row.block = block();
    row.lives = std::move(lives);
    row.parameters = std::move(parameters);
    table_.add(std::move(row));
  }
  int block() const { return static_cast<int>(number_); }

  TensorTable& table_;
  size_t number_;
  const BlockLayout& block_;
  const StoreOptions& options_;
  std::vector<TensorId> all_;
};

}  // namespace

std::string store_row_name(StoreRow what, size_t block) {
  const auto name = [what] {
    switch (what) {
      case StoreRow::Weights:
        return "weights";
      case StoreRow::Gradients:
        return "gradients";
      case StoreRow::Masters:
        return "masters";
      case StoreRow::UnshardedWeights:
        return "whole.weights";
      case StoreRow::UnshardedGradients:
        return "whole.gradients";
      case StoreRow::NarrowGradients:
        return "narrow.gradients";
    }
    throw Error(ErrorCode::Internal, "unknown store row");
  };
  return fmt::format("{}.{}", name(), block);
}

std::string gradient_row_name(const std::string& parameter) {
  return "gradients." + parameter;
}

std::string state_row_name(const std::string& state, DType dtype, size_t block) {
  return fmt::format("{}.{}.{}", state, name_of(dtype), block);
}

std::string state_of_row(const std::string& row_name) {
  return row_name.substr(0, row_name.find('.'));
}

StoreOptions store_options(const RunConfig& config, bool one_micro_step) {
  const SystemConfig& system = config.system;
  StoreOptions options;
  options.optim = config.optim;
  options.one_micro_step = one_micro_step;
  options.order = block_uses(config.model);
  options.gradient_sync = system.gradient_sync;
  options.narrow_reduction = system.reduce_dtype == DType::BF16;
  options.offload_optimizer = system.offload_optimizer;
  switch (system.data_parallel) {
    case DataParallel::Replicated:
      break;
    case DataParallel::Zero1:
      options.unsharded_weights = UnshardedWeights::Always;
      options.gradient_sync = GradientSync::Step;
      break;
    case DataParallel::Zero2:
      options.unsharded_weights = UnshardedWeights::Always;
      break;
    case DataParallel::FullySharded:
      if (!system.reshard) options.unsharded_weights = UnshardedWeights::ForwardToBackward;
      break;
  }
  return options;
}

void add_store_rows(TensorTable& table, const TensorTable& parameters, DType compute,
                    const Layout& layout, const StoreOptions& options) {
  const DType acc = accumulation_dtype(compute);
  const bool alone = layout.dp_shard == 1;
  const bool sends = layout.data_ranks() > 1 || options.group_of_one;
  const bool always_unsharded = alone || options.unsharded_weights == UnshardedWeights::Always;
  // In a step of one micro-step nothing is added to what was reduced.
  const bool kept =
      alone || (options.gradient_sync == GradientSync::Step && !options.one_micro_step);
  const std::vector<BlockLayout> blocks = block_layouts(parameters, layout.dp_shard);
  for (size_t i = 0; i < blocks.size(); ++i) {
    BlockRows rows(table, i, blocks[i], options);
    const int64_t shard = rows.shard(), whole = rows.whole();
    rows.add(StoreRow::Weights, TensorKind::Weight, always_unsharded ? whole : shard, compute,
             {Lifetime{}});
    if (sends)
      rows.add(StoreRow::Gradients, TensorKind::Gradient, kept ? whole : shard, acc,
               rows.from_first_write());
    else
      rows.add_gradients(parameters, acc);
    if (compute != acc)
      rows.add(StoreRow::Masters, TensorKind::MasterWeight, shard,
               compute == DType::BF16 ? DType::U16 : DType::F32, {Lifetime{}});
    for (const BlockState& state : states_of(blocks[i], parameters, compute, options.optim))
      rows.add_state(state);

    if (!alone) rows.first_write();  // there is one
    if (!always_unsharded)
      rows.add(StoreRow::UnshardedWeights, TensorKind::GatherBuffer, whole, compute,
               rows.gathered());
    if (!kept)
      rows.add(StoreRow::UnshardedGradients, TensorKind::GatherBuffer, whole, acc, rows.reduced());
    if (options.narrow_reduction && sends)
      rows.add(StoreRow::NarrowGradients, TensorKind::GatherBuffer, whole, DType::BF16,
               kept ? rows.reduced_at_last() : rows.reduced());
  }
}

}  // namespace ingot
