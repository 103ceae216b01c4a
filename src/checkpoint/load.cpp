#include <algorithm>
#include <functional>
#include <vector>

#include "checkpoint/checkpoint.h"
#include "core/error/error.h"
#include "ops/memory.h"
#include "spec/model/transformer_parameters.h"

namespace ingot {

namespace {

// `read` fills host memory with elements [range).
void read_to_device(Context& ctx, ShardRange range, const Tensor& out,
                    const std::function<void(ShardRange, const Tensor&)>& read) {
  if (out.device.kind == DeviceKind::Cpu) return read(range, out);
  constexpr int64_t kPiece = int64_t{16} << 20;  // elements staged at once
  const Tensor flat = out.reshape({range.size()});
  std::vector<std::byte> staged(
      static_cast<size_t>(std::min(kPiece, range.size()) * size_of(out.dtype)));
  for (int64_t at = 0; at < range.size(); at += kPiece) {
    const int64_t count = std::min(kPiece, range.size() - at);
    read({range.begin + at, range.begin + at + count},
         Tensor::contiguous(staged.data(), out.dtype, {count}));
    copy_from_host(ctx, staged.data(), flat.slice(0, at, at + count));
  }
}

}  // namespace

void read_weight(Context& ctx, const Weights& weights, const std::string& name, const Tensor& out) {
  read_to_device(ctx, {0, out.numel()}, out,
                 [&](ShardRange range, const Tensor& part) { weights.read(name, range, part); });
}

void read_tensor(Context& ctx, const CheckpointReader& reader, const std::string& what,
                 const std::string& name, ShardRange range, const Tensor& out) {
  read_to_device(ctx, range, out, [&](ShardRange part_range, const Tensor& part) {
    reader.read(what, name, part_range, part);
  });
}

namespace {

void load(const CheckpointReader& reader, const TensorTable& parameters, ParameterStore& store,
          bool with_states) {
  const CheckpointInfo& info = reader.info();
  for (const ParameterShard& shard : store.shards()) {
    const TensorSpec& row = parameters[shard.parameter];
    check(reader.numel(row.name) == row.shape.numel(), ErrorCode::Data,
          "checkpoint '{}' is of another model: {} has {} elements there, {} here", info.dir,
          row.name, reader.numel(row.name), row.shape.numel());
    read_tensor(store.context(), reader, "weight", row.name, shard.range, exact_room(shard));
    take_exact_weights(store.context(), shard);
    for (size_t i = 0; i < shard.states.size(); ++i) {
      if (with_states) {
        read_tensor(store.context(), reader, shard.state_names[i], row.name, shard.range,
                    shard.states[i]);
      } else {
        zero(store.context(), shard.states[i]);
      }
    }
  }
  store.publish_weights();
}

}  // namespace

RunState load_checkpoint(const CheckpointReader& reader, const TensorTable& parameters,
                         ParameterStore& store) {
  load(reader, parameters, store, reader.info().has_optimizer);
  return reader.info().state;
}

void load_weights(const CheckpointReader& reader, const TensorTable& parameters,
                  ParameterStore& store) {
  load(reader, parameters, store, /*with_states=*/false);
}

void check_same_shapes(const CheckpointReader& reader, const TensorTable& parameters) {
  const CheckpointInfo& info = reader.info();
  const TensorTable there = transformer_parameters(info.model);
  for (const TensorSpec& row : parameters.rows()) {
    const TensorId id = there.try_find(row.name);
    check(id.valid() && there[id].shape == row.shape, ErrorCode::Config,
          "train.init: '{}' is of another model: {} is {} there and {} here; leave [model] out of "
          "the recipe and the preset too (or --set preset=none), and they follow the checkpoint",
          info.dir, row.name, id.valid() ? there[id].shape.str() : "missing", row.shape.str());
  }
  check(there.rows().size() == parameters.rows().size(), ErrorCode::Config,
        "train.init: '{}' is of another model, with {} parameters more; leave [model] out of the "
        "recipe and the preset too (or --set preset=none), and they follow the checkpoint",
        info.dir, there.rows().size() - parameters.rows().size());
}

}  // namespace ingot
