// One way of updating parameters. src/spec/settings/optimizers.inc lists them all; which parameters
// each takes, and what it keeps of them, is declared in spec/optimizer_states.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "core/device/context.h"
#include "ops/update/update_scalars.h"
#include "parallel/shard/parameter_store.h"
#include "spec/layout/layout.h"
#include "spec/run/run_config.h"
#include "spec/table/placed_tensors.h"
#include "spec/table/tensor_table.h"

namespace ingot {

struct OwnedShard {
  const TensorSpec* parameter;  // its row of the parameter table
  const ParameterShard* shard;  // not empty
};

// What an update follows, besides the optimizer's own settings.
struct UpdateInputs {
  double lr = 0.0;        // of optim.lr's schedule
  uint64_t seed = 0;      // of whatever is drawn
  UpdateScalars scalars;  // decided: the gradient's factor, the count, whether anything may change
};

class Optimizer {
 public:
  virtual ~Optimizer() = default;
  // Updates masters, weights and states of all `shards` from their gradients, which may be
  // overwritten; where the scalars say skip, nothing of it. Issues the work and waits for none. All
  // ranks call it, also those that have no shard.
  virtual void update(Context& ctx, const UpdateInputs& inputs,
                      std::span<const OwnedShard> shards) = 0;
};

// What an optimizer is made with. Of an update that needs more than a rank's shards the ranks of
// `shard_group` know how all parameters are laid out.
struct OptimizerSetup {
  const OptimConfig& config;
  const PlacedTensors& placed;  // has its tables (add_update_rows)
  const TensorTable& parameters;
  const Layout& layout;
  DType compute;              // of the weights
  Communicator& shard_group;  // the store's
};

// The group and what is placed must outlive it.
std::unique_ptr<Optimizer> make_optimizer(OptimKind kind, const OptimizerSetup& setup);

// What each optimizer's source defines: std::unique_ptr<Optimizer> name_optimizer(setup).
#define OPTIMIZER(Kind, name) \
  std::unique_ptr<Optimizer> name##_optimizer(const OptimizerSetup& setup);
#include "spec/settings/optimizers.inc"
#undef OPTIMIZER

}  // namespace ingot
