// The update at the end of a step: global gradient norm, clipping, and each optimizer on its
// parameters.
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
  // The factor of the loss, and so of every gradient; nothing: 1, without a loss scaler.
  std::optional<double> loss_scale = std::nullopt;
};

struct UpdateReport {
  double grad_norm = 0.0;   // global, without the loss scale, before clipping
  double clip_scale = 1.0;  // the factor that clipped the gradient
  bool skipped = false;     // nothing was updated: the norm was not finite
};

// Updates one rank's shards; all ranks make the same calls. All arguments must outlive it.
class Updater {
 public:
  // `layout`: the store's. `placed` has the rows of add_update_rows(); the store's rows may be
  // elsewhere.
  Updater(Context& ctx, const TensorTable& parameters, const Layout& layout, ParameterStore& store,
          const OptimConfig& config, const PlacedTensors& placed);
  // The same with updates on the CPU, on shards in host memory; ctx is the device's. The host waits
  // for the norm, then for each gradient, and updates it while other gradients and weights are
  // copied.
  Updater(Context& ctx, const TensorTable& parameters, const Layout& layout, OffloadedStore& store,
          const OptimConfig& config, const PlacedTensors& placed);

  // Selects optimizers by config.kind and role. Gradients must be finished; publishes the weights
  // afterwards. The norm and all that depends on it stay on the device: the host does not wait,
  // unless the optimizer is offloaded. If the norm is not finite, nothing changes: neither weights
  // nor states nor the count for bias correction.
  void update(const UpdateStep& step);

  // The scalars of the last update, on the device; they say whether it was skipped.
  const UpdateScalars& scalars() const { return scalars_; }

  // The last update's report; waits for its norm, not for the update itself.
  UpdateReport take_report();

 private:
  struct Group {
    std::unique_ptr<Optimizer> optimizer;
    std::vector<OwnedShard> shards;  // empty if this rank has no element of its parameters
  };

  Updater(Context& ctx, const TensorTable& parameters, const Layout& layout, ParameterStore& store,
          OffloadedStore* offloaded, const OptimConfig& config, const PlacedTensors& placed);
  void update_shards(const UpdateStep& step);
  void update_on_host(const UpdateStep& step);

  Context& ctx_;
  std::unique_ptr<Lane> lane_;  // of ctx_
  ParameterStore& store_;
  OffloadedStore* offloaded_;  // store_, if it is one
  const OptimConfig config_;
  UpdateScalars scalars_;
  UpdateScalars host_scalars_;  // if the optimizer is offloaded
  std::vector<Tensor> gradients_;
  std::vector<Group> groups_;
  std::unique_ptr<UpdateReader> reader_;
  int64_t count_ = -1;  // the device's count as known to the host; -1: nothing is written yet
  UpdateStep last_;
};

}  // namespace ingot
