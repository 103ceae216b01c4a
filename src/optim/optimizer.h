// One way of updating parameters. src/spec/optimizers.inc lists them all; which parameters each
// takes, and what it keeps of them, is declared in spec/optimizer_states.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "core/context.h"
#include "ops/update_scalars.h"
#include "parallel/shard/parameter_store.h"
#include "spec/placed_tensors.h"
#include "spec/run_config.h"
#include "spec/tensor_table.h"

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
  // overwritten; where the scalars say skip, nothing of it. Issues the work and waits for none.
  virtual void update(Context& ctx, const UpdateInputs& inputs,
                      std::span<const OwnedShard> shards) = 0;
};

// Its tables are found in `placed` (add_update_rows). What it is given must outlive it.
std::unique_ptr<Optimizer> make_optimizer(OptimKind kind, const OptimConfig& config,
                                          const PlacedTensors& placed);

// What each optimizer's source defines: std::unique_ptr<Optimizer> name_optimizer(config, placed).
#define OPTIMIZER(Kind, name)                                            \
  std::unique_ptr<Optimizer> name##_optimizer(const OptimConfig& config, \
                                              const PlacedTensors& placed);
#include "spec/optimizers.inc"
#undef OPTIMIZER

}  // namespace ingot
