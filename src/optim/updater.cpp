#include "optim/updater.h"

#include <algorithm>

#include "core/error/error.h"
#include "ops/memory.h"
#include "ops/reduce.h"
#include "spec/rows/optimizer_states.h"

namespace ingot {

Updater::Updater(Context& ctx, const TensorTable& parameters, const Layout& layout,
                 ParameterStore& store, const OptimConfig& config, const PlacedTensors& placed)
    : Updater(ctx, parameters, layout, store, nullptr, config, placed) {}

Updater::Updater(Context& ctx, const TensorTable& parameters, const Layout& layout,
                 OffloadedStore& store, const OptimConfig& config, const PlacedTensors& placed)
    : Updater(ctx, parameters, layout, store, &store, config, placed) {
  host_scalars_ = {placed.find(kHostUpdateScalars), placed.find(kHostUpdateCount)};
  gradients_ = store.device_gradients();
}

Updater::Updater(Context& ctx, const TensorTable& parameters, const Layout& layout,
                 ParameterStore& store, OffloadedStore* offloaded, const OptimConfig& config,
                 const PlacedTensors& placed)
    : ctx_(ctx),
      lane_(compute_lane(ctx)),
      store_(store),
      offloaded_(offloaded),
      config_(config),
      scalars_{placed.find(kUpdateScalars), placed.find(kUpdateCount)},
      reader_(make_update_reader(ctx)) {
  for (const UpdateTable& table : update_tables(config))
    copy_from_host(store.context(), table.values.data(), placed.find(update_table_row(table.name)));
  std::vector<OptimKind> kinds;  // of groups_
  for (const ParameterShard& shard : store.shards()) {
    const TensorSpec& parameter = parameters[shard.parameter];
    const OptimKind kind = optimizer_of(config, parameter);
    const auto found = std::find(kinds.begin(), kinds.end(), kind);
    const auto group = static_cast<size_t>(found - kinds.begin());
    if (found == kinds.end()) {
      kinds.push_back(kind);
      const OptimizerSetup setup{
          config_, placed, parameters, layout, shard.weight.dtype, store.shard_group()};
      groups_.push_back({make_optimizer(kind, setup), {}});
    }
    if (shard.range.size() == 0) continue;
    gradients_.push_back(shard.gradient);
    groups_[group].shards.push_back({&parameter, &shard});
  }
}

void Updater::update(const UpdateStep& step) {
  if (count_ != step.step - 1) {  // the run begins here, or went back
    count_ = step.step - 1;
    copy_from_host(ctx_, &count_, scalars_.count);
    if (offloaded_ != nullptr) *host_scalars_.count.as<int64_t>() = count_;
  }
  const Tensor squares = scalars_.values.slice(0, kGradSquares, kGradSquares + 1);
  sum_of_squares(ctx_, gradients_, squares);
  // Replicas hold equal gradients: adding theirs would count every element once for each.
  if (Communicator& group = store_.shard_group(); group.size() > 1)
    lane_->after(group.all_reduce(squares, Reduce::Sum, lane_->mark("squares of gradients")));
  // The norm is equal on all ranks, so either all of them update or none does.
  decide_update(ctx_, {config_.clip, step.loss_scale.value_or(1.0)}, scalars_);
  reader_->issue(scalars_);
  if (offloaded_ == nullptr)
    update_shards(step);
  else
    update_on_host(step);
  store_.publish_weights();
  count_ = step.step;
  last_ = step;
}

void Updater::update_shards(const UpdateStep& step) {
  for (const Group& group : groups_)
    group.optimizer->update(ctx_, {step.lr, step.seed, scalars_}, group.shards);
}

void Updater::update_on_host(const UpdateStep& step) {
  const UpdateValues values = reader_->read();
  std::copy(values.begin(), values.end(), host_scalars_.values.as<double>());
  if (values[kSkipped] != 0.0) return;
  ++*host_scalars_.count.as<int64_t>();  // as the device did
  for (const Group& group : groups_)
    for (const OwnedShard& one : group.shards) {
      offloaded_->await_gradient(*one.shard);
      group.optimizer->update(store_.context(), {step.lr, step.seed, host_scalars_}, {&one, 1});
      offloaded_->send_weight(*one.shard);
    }
}

UpdateReport Updater::take_report() {
  const UpdateValues values = reader_->read();
  const bool skipped = values[kSkipped] != 0.0;
  if (skipped) count_ = last_.step - 1;
  return {values[kGradNorm], skipped ? 1.0 : values[kClipScale], skipped};
}

std::unique_ptr<Optimizer> make_optimizer(OptimKind kind, const OptimizerSetup& setup) {
  switch (kind) {
#define OPTIMIZER(Kind, name) \
  case OptimKind::Kind:       \
    return name##_optimizer(setup);
#include "spec/settings/optimizers.inc"
#undef OPTIMIZER
  }
  throw Error(ErrorCode::Internal, "unknown optimizer");
}

}  // namespace ingot
