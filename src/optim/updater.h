// The update at the end of a step: global norm, clipping, and each optimizer on what it takes.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "core/async/lane.h"
#include "optim/optimizer.h"
#include "parallel/shard/offloaded_store.h"

namespace ingot {

struct UpdateStep {
  double lr = 0.0;    // AdamW's; Muon's is the same fraction of its peak
  int64_t step = 1;   // counts updates from 1
  uint64_t seed = 0;  // of the rounding of BF16 moments
  // What the loss, and so every gradient, was multiplied with; nothing: it was not.
  std::optional<double> loss_scale = std::nullopt;
};

struct UpdateReport {
  double grad_norm = 0.0;   // global, of the loss as it is, before clipping
  double clip_scale = 1.0;  // what the gradient was multiplied with to clip it
  bool skipped = false;     // nothing was updated: the norm was not finite
};

// One rank's; the ranks call it alike. What it is given must outlive it.
class Updater {
 public:
  // `layout`: the store's. `placed` has the rows of add_update_rows(); the store's may be
  // elsewhere.
  Updater(Context& ctx, const TensorTable& parameters, const Layout& layout, ParameterStore& store,
          const OptimConfig& config, const PlacedTensors& placed);
  // The same by the CPU on shards that lie in host memory; ctx is the device's. The host waits for
  // the norm, then for each gradient, and updates it while others come and new weights go.
  Updater(Context& ctx, const TensorTable& parameters, const Layout& layout, OffloadedStore& store,
          const OptimConfig& config, const PlacedTensors& placed);

  // By config.kind and role. Gradients must be finished; weights are published after. The norm and
  // what follows from it stay on the device: the host waits for nothing, but where the optimizer is
  // offloaded. A norm that is not finite changes nothing, neither weights nor states nor the count
  // that bias correction goes by.
  void update(const UpdateStep& step);

  // What the last update went by, on the device: whether it was skipped.
  const UpdateScalars& scalars() const { return scalars_; }

  // Of the last update; waits for its norm, not for the update itself.
  UpdateReport take_report();

 private:
  struct Group {
    std::unique_ptr<Optimizer> optimizer;
    std::vector<OwnedShard> shards;  // none where this rank has no element of what it takes
  };

  Updater(Context& ctx, const TensorTable& parameters, const Layout& layout, ParameterStore& store,
          OffloadedStore* offloaded, const OptimConfig& config, const PlacedTensors& placed);
  void update_shards(const UpdateStep& step);
  void update_on_host(const UpdateStep& step);

  Context& ctx_;
  std::unique_ptr<Lane> lane_;  // of ctx_
  ParameterStore& store_;
  OffloadedStore* offloaded_;  // store_, where it is one
  const OptimConfig config_;
  UpdateScalars scalars_;
  UpdateScalars host_scalars_;  // where the optimizer is offloaded
  std::vector<Tensor> gradients_;
  std::vector<Group> groups_;
  std::unique_ptr<UpdateReader> reader_;
  int64_t count_ = -1;  // what the device counts, as far as the host knows; -1: nothing is there
  UpdateStep last_;
};

}  // namespace ingot
