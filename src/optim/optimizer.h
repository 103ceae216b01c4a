// The optimizer interface. src/spec/settings/optimizers.inc lists all optimizers;
// spec/rows/optimizer_states.h declares the parameters and states of each.
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

// Inputs of an update besides the optimizer's settings.
struct UpdateInputs {
  double lr = 0.0;        // of optim.lr's schedule
  uint64_t seed = 0;      // for stochastic rounding
  UpdateScalars scalars;  // decided: the gradient's factor, the count, whether to skip
};

class Optimizer {
 public:
  virtual ~Optimizer() = default;
  // Updates masters, weights and states of all `shards` from their gradients, which may be
  // overwritten; changes nothing if the scalars say skip. Issues the work and does not wait. All
  // ranks call it, including those without shards.
  virtual void update(Context& ctx, const UpdateInputs& inputs,
                      std::span<const OwnedShard> shards) = 0;
};

// Construction arguments of an optimizer. If an update needs more than a rank's shards, all ranks
// of `shard_group` know the layout of all parameters.
struct OptimizerSetup {
  const OptimConfig& config;
  const PlacedTensors& placed;  // has its tables (add_update_rows)
  const TensorTable& parameters;
  const Layout& layout;
  DType compute;              // dtype of the weights
  Communicator& shard_group;  // the store's
};

// The group and the placed tensors must outlive it.
std::unique_ptr<Optimizer> make_optimizer(OptimKind kind, const OptimizerSetup& setup);

// The factory defined in each optimizer's source: std::unique_ptr<Optimizer> name_optimizer(setup).
#define OPTIMIZER(Kind, name) \
  std::unique_ptr<Optimizer> name##_optimizer(const OptimizerSetup& setup);
#include "spec/settings/optimizers.inc"
#undef OPTIMIZER

}  // namespace ingot
