// A small model's worth of parameters and one rank's store over them, for tests of what stands on
// the store.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/device/thread_pool.h"
#include "parallel/comm/world.h"
#include "parallel/shard/parameter_store.h"
#include "spec/rows/block_use.h"
#include "spec/rows/store_rows.h"

namespace ingot::testing {

// A weight as a parameter table lists it.
inline TensorSpec weight_row(std::string name, Shape shape, int block, Role role, double init_std) {
  TensorSpec row;
  row.name = std::move(name);
  row.shape = shape;
  row.kind = TensorKind::Weight;
  row.block = block;
  row.role = role;
  row.init = role == Role::Norm ? InitRule::Ones : InitRule::Normal;
  row.init_std = init_std;
  return row;
}

// Sizes that no rank count divides, parameters that shards cut through, one with fewer elements
// than ranks, every role.
// Blocks: 0 embedding, 1 and 2 layers, 3 final norm and head.
inline TensorTable toy_parameters() {
  TensorTable table;
  auto add = [&](std::string name, Shape shape, int block, Role role) {
    table.add(weight_row(std::move(name), shape, block, role, 0.02));
  };
  add("embedding.weight", {67, 5}, 0, Role::Embedding);
  add("layers.0.norm.weight", {5}, 1, Role::Norm);
  add("layers.0.mlp.weight", {61, 5}, 1, Role::Matrix);
  add("layers.1.norm.weight", {1}, 2, Role::Norm);
  add("layers.1.mlp.weight", {33, 7}, 2, Role::Matrix);
  add("final_norm.weight", {5}, 3, Role::Norm);
  add("head.weight", {67, 5}, 3, Role::Head);
  return table;
}

// The order in which a model of two layers with a tied head uses them.
inline std::vector<BlockUse> toy_order() {
  ModelConfig model = model_preset("llama_test");
  model.layers = 2;
  model.tied = true;
  return block_uses(model);
}

struct ToyOptions {
  DType compute = DType::F32;
  DType moments = DType::F32;
  GradientSync gradient_sync = GradientSync::MicroStep;
  UnshardedWeights unsharded_weights = UnshardedWeights::AroundUses;
  bool narrow_reduction = false;
};

inline TensorTable store_table(const TensorTable& parameters, const Layout& layout,
                               const ToyOptions& toy = {}) {
  TensorTable table;
  StoreOptions options;
  options.optim.moments = toy.moments;
  options.order = toy_order();
  options.gradient_sync = toy.gradient_sync;
  options.unsharded_weights = toy.unsharded_weights;
  options.narrow_reduction = toy.narrow_reduction;
  add_store_rows(table, parameters, toy.compute, layout, options);
  return table;
}

// Everything one rank needs; construct it inside run_local_ranks.
class ToyRank {
 public:
  ToyRank(World& world, const Layout& ranks, const ToyOptions& options = {})
      : parameters(toy_parameters()),
        layout(ranks),
        order(toy_order()),
        placed(store_table(parameters, layout, options), Device::cpu()),
        pool_(2),
        ctx{.device = Device::cpu(), .pool = &pool_, .workspace = {}},
        store(make_parameter_store(ctx, world, parameters, layout, placed, options.compute)) {}

  std::vector<TensorId> parameters_of(int block) const {
    std::vector<TensorId> ids;
    for (int32_t row = 0; row < static_cast<int32_t>(parameters.rows().size()); ++row)
      if (parameters[{row}].block == block) ids.push_back({row});
    return ids;
  }

  TensorTable parameters;
  Layout layout;
  std::vector<BlockUse> order;
  PlacedTensors placed;

 private:
  ThreadPool pool_;

 public:
  Context ctx;
  std::unique_ptr<ParameterStore> store;
};

// Calls visit(id, weight) for every parameter, as a model sees it.
template <class Visit>
void visit_weights(ToyRank& rank, const Visit& visit) {
  rank.store->begin(rank.order, false);
  for (const BlockUse& use : rank.order) {
    rank.store->acquire(use);
    if (use.pass == Pass::Forward || use.block == 3)  // the head's only use is the loss
      for (const TensorId id : rank.parameters_of(use.block)) visit(id, rank.store->weight(id));
    rank.store->release(use);
  }
  rank.store->end();
}

// Writes or adds value(i) to element i, as the slot says.
template <class Value>
void write_gradient(const GradientSlot& slot, const Value& value) {
  const auto write = [&]<class T>(T* out) {
    for (int64_t i = 0; i < slot.tensor.numel(); ++i)
      out[i] = (slot.accumulate == Accumulate::Yes ? out[i] : T{0}) + value(i);
  };
  if (slot.tensor.dtype == DType::F64) return write(slot.tensor.as<double>());
  write(slot.tensor.as<float>());
}

// One micro-step, a step of its own, that writes value(id, i) as the gradient of every parameter.
template <class Value>
void write_gradients(ToyRank& rank, const Value& value) {
  rank.store->start_step();
  rank.store->begin(rank.order, true);
  for (const BlockUse& use : rank.order) {
    rank.store->acquire(use);
    if (use.tick == last_gradient_tick(rank.order, use.block)) {
      for (const TensorId id : rank.parameters_of(use.block))
        write_gradient(rank.store->gradient(id), [&](int64_t i) { return value(id.row, i); });
      rank.store->release_gradients(use.block);
    }
    rank.store->release(use);
  }
  rank.store->end();
  rank.store->finish_gradients();
}

inline std::string layout_name(const Layout& layout) {
  return "replicated" + std::to_string(layout.dp_replicate) + "_sharded" +
         std::to_string(layout.dp_shard);
}

}  // namespace ingot::testing
