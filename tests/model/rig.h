// A model on one of several local ranks, with its memory, store and optimizer, for tests.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/device/compute_device.h"
#include "model/fp8_scales.h"
#include "model/transformer.h"
#include "ops/memory.h"
#include "optim/updater.h"
#include "parallel/comm/world.h"
#include "parallel/shard/offloaded_store.h"
#include "parallel/shard/parameter_store.h"
#include "plan/workspace.h"
#include "spec/rows/offload_rows.h"
#include "spec/rows/optimizer_states.h"
#include "spec/rows/store_rows.h"
#include "spec/table/placed_tensors.h"
#include "support/poison.h"

namespace ingot::test {

struct RigOptions {
  ModelConfig model;
  Device device = Device::cpu();
  int64_t B = 2, T = 12;
  ActivationPolicy policy = ActivationPolicy::None;
  DType compute = DType::F32;
  bool fp8 = false, fp8_head = false;
  int64_t keep_layers = 0, offload_layers = 0;
  int64_t slots = 1;
  bool document_mask = false;
  double z_loss = 0.0;
  Layout layout;
  int threads = 2;
  bool one_micro_step = false;
  GradientSync gradient_sync = GradientSync::MicroStep;
  UnshardedWeights unsharded_weights = UnshardedWeights::AroundUses;
  bool narrow_reduction = false;
  bool group_of_one = false;
  int overlap_ticks = 1;
  int64_t loss_chunk = 7;  // odd on purpose: the last chunk is short
  bool poison = false;     // before each tick, what is dead then
  OptimConfig optim = {};
  bool offload_optimizer = false;  // shards are in host memory, the CPU updates them
  // What stands between model and store, or between ranks.
  std::function<std::unique_ptr<ParameterStore>(std::unique_ptr<ParameterStore>, World&)>
      wrap_store = {};
  std::function<std::unique_ptr<World>(World&)> wrap_world = {};
};

class Rig {
 public:
  Rig(const RigOptions& options, World& world)
      : options_(options),
        world_(world),
        compute_(options.device, options.threads, ""),
        ctx_(compute_.context()),
        shape_(shape_of(ctx_, options)),
        parameters_(transformer_parameters(options.model)),
        placed_(table_of(ctx_, options), options.device),
        host_(Device::cpu(), 1, "") {
    ctx_.workspace = Workspace(placed_.find("workspace"));
    store_ =
        make_parameter_store(ctx_, world, parameters_, options.layout, placed_, options.compute);
    if (options.wrap_store) store_ = options.wrap_store(std::move(store_), world);
    if (options.offload_optimizer) {
      auto offloaded = std::make_unique<OffloadedStore>(ctx_, host_.context(), std::move(store_),
                                                        parameters_, placed_);
      offloaded_ = offloaded.get();
      store_ = std::move(offloaded);
    }
    model_ = std::make_unique<Transformer>(ctx_, options_.model, shape_, options.z_loss, placed_,
                                           *store_);
    if (options.fp8) {
      readers_ = world.everyone(ctx_);
      fp8_scales_ = std::make_unique<Fp8Scales>(ctx_, placed_, *readers_);
    }
    if (options.poison)
      model_->watch_ticks(
          [this](int tick) { poisoned_bytes_ += poison_dead_rows(ctx_, placed_, tick); });
  }

  static TrainShape shape_of(const Context& ctx, const RigOptions& o) {
    TrainShape shape;
    shape.B = o.B;
    shape.T = o.T;
    shape.compute = o.compute;
    shape.policy = o.policy;
    shape.keep_layers = o.keep_layers;
    shape.fp8 = o.fp8;
    shape.fp8_head = o.fp8_head;
    shape.offload_layers = o.offload_layers;
    shape.slots = o.slots;
    shape.layout = o.layout;
    shape.loss_chunk = o.loss_chunk;
    shape.document_mask = o.document_mask;
    shape.workspace_bytes =
        std::max(train_workspace_bytes(ctx.facts, ctx.deterministic, o.model, shape),
                 update_workspace_bytes(ctx.facts, o.compute, transformer_parameters(o.model),
                                        o.optim, o.layout));
    shape.head_workspace_bytes = head_workspace_bytes(ctx.facts, o.model, shape);
    return shape;
  }
  int64_t predicted_bytes() const { return plan_memory(table_of(ctx_, options_)).total_bytes; }
  static TensorTable table_of(const Context& ctx, const RigOptions& o) {
    TensorTable table = transformer_train_table(o.model, shape_of(ctx, o));
    add_store_rows(table, transformer_parameters(o.model), o.compute, o.layout,
                   {.optim = o.optim,
                    .one_micro_step = o.one_micro_step,
                    .order = block_uses(o.model),
                    .unsharded_weights = o.unsharded_weights,
                    .gradient_sync = o.gradient_sync,
                    .narrow_reduction = o.narrow_reduction,
                    .group_of_one = o.group_of_one,
                    .overlap_ticks = o.overlap_ticks,
                    .offload_optimizer = o.offload_optimizer});
    if (o.offload_optimizer)
      add_offload_rows(table, transformer_parameters(o.model), o.compute, o.layout);
    return table;
  }

  // Whole weights by name, as a checkpoint would give them; on the CPU.
  void set_weights(const std::function<std::vector<float>(const std::string&)>& whole) {
    for (const ParameterShard& shard : store_->shards()) {
      const std::vector<float> values = whole(parameters_[shard.parameter].name);
      auto* master = shard.master.as<float>();
      for (int64_t i = 0; i < shard.range.size(); ++i)
        master[i] = values[static_cast<size_t>(shard.range.begin + i)];
    }
    store_->publish_weights();
  }

  // This rank's part of a finished gradient.
  std::vector<double> gradient(const std::string& name) const {
    const auto on_host = [&]<class T>(const Tensor& values, std::vector<T> host) {
      host.resize(static_cast<size_t>(values.numel()));
      copy_to_host(store_->context(), values, host.data());
      return std::vector<double>(host.begin(), host.end());
    };
    for (const ParameterShard& shard : store_->shards()) {
      if (parameters_[shard.parameter].name != name) continue;
      if (offloaded_ != nullptr) offloaded_->await_gradient(shard);
      return shard.gradient.dtype == DType::F64 ? on_host(shard.gradient, std::vector<double>())
                                                : on_host(shard.gradient, std::vector<float>());
    }
    return {};
  }

  Transformer& model() { return *model_; }
  Fp8Scales& fp8_scales() { return *fp8_scales_; }
  ParameterStore& store() { return *store_; }
  const ParameterStore& store() const { return *store_; }
  const TensorTable& parameters() const { return parameters_; }
  const PlacedTensors& placed() const { return placed_; }
  const TrainShape& shape() const { return shape_; }
  Context& ctx() { return ctx_; }
  int64_t poisoned_bytes() const { return poisoned_bytes_; }

  UpdateReport update(double lr, int64_t step) {
    if (!updater_) {
      TensorTable rows;
      add_update_rows(rows, options_.optim, options_.offload_optimizer);
      update_rows_ = std::make_unique<PlacedTensors>(rows, ctx_.device);
      const auto make = [&](auto& store) {
        return std::make_unique<Updater>(ctx_, parameters_, options_.layout, store, options_.optim,
                                         *update_rows_);
      };
      updater_ = offloaded_ != nullptr ? make(*offloaded_) : make(*store_);
    }
    updater_->update({lr, step});
    if (options_.fp8) fp8_scales_->update(updater_->scalars());
    return updater_->take_report();
  }

 private:
  RigOptions options_;
  World& world_;
  ComputeDevice compute_;
  Context& ctx_;
  TrainShape shape_;
  TensorTable parameters_;
  PlacedTensors placed_;
  ComputeDevice host_;
  std::unique_ptr<ParameterStore> store_;
  OffloadedStore* offloaded_ = nullptr;  // store_, if it is one
  std::unique_ptr<Transformer> model_;
  std::unique_ptr<PlacedTensors> update_rows_;
  std::unique_ptr<Updater> updater_;
  std::unique_ptr<Communicator> readers_;  // under fp8
  std::unique_ptr<Fp8Scales> fp8_scales_;
  int64_t poisoned_bytes_ = 0;
};

}  // namespace ingot::test
