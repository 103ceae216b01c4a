// A small model's worth of parameters and one rank's store over them, for tests of what stands on
// the store.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "core/thread_pool.h"
#include "parallel/comm/world.h"
#include "parallel/shard/parameter_store.h"
#include "spec/store_rows.h"

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

// Sizes that no rank count divides, a parameter with fewer elements than ranks, every role.
// Blocks: 0 embedding, 1 and 2 layers, 3 final norm and head.
inline TensorTable toy_parameters() {
  TensorTable table;
  auto add = [&](std::string name, Shape shape, int block, Role role) {
    table.add(weight_row(std::move(name), shape, block, role, 0.02));
  };
  add("embedding.weight", {7, 5}, 0, Role::Embedding);
  add("layers.0.norm.weight", {5}, 1, Role::Norm);
  add("layers.0.mlp.weight", {11, 5}, 1, Role::Matrix);
  add("layers.1.norm.weight", {1}, 2, Role::Norm);
  add("layers.1.mlp.weight", {3, 7}, 2, Role::Matrix);
  add("final_norm.weight", {5}, 3, Role::Norm);
  add("head.weight", {7, 5}, 3, Role::Head);
  return table;
}

inline TensorTable store_table(const TensorTable& parameters, DType compute, const Layout& layout,
                               DType moments = DType::F32) {
  TensorTable table;
  StoreOptions options;
  options.optim.moments = moments;
  add_store_rows(table, parameters, compute, layout, options);
  return table;
}

// Everything one rank needs; construct it inside run_local_ranks.
class ToyRank {
 public:
  ToyRank(World& world, const Layout& layout, DType compute = DType::F32,
          DType moments = DType::F32)
      : parameters(toy_parameters()),
        placed(store_table(parameters, compute, layout, moments), Device::cpu()),
        pool_(2),
        ctx{.device = Device::cpu(), .pool = &pool_, .workspace = {}},
        comm(world.everyone(ctx)),
        store(make_parameter_store(ctx, *comm, parameters, layout, placed, compute)) {}

  TensorTable parameters;
  PlacedTensors placed;

 private:
  ThreadPool pool_;

 public:
  Context ctx;
  std::unique_ptr<Communicator> comm;
  std::unique_ptr<ParameterStore> store;
};

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

inline std::string layout_name(const Layout& layout) {
  return "replicated" + std::to_string(layout.dp_replicate) + "_sharded" +
         std::to_string(layout.dp_shard);
}

}  // namespace ingot::testing
