// Adam with decoupled weight decay; the update itself is one op (ops/update/adamw.h).
#include "ops/update/adamw.h"

#include <vector>

#include "core/random/random.h"
#include "optim/optimizer.h"
#include "spec/rows/optimizer_states.h"

namespace ingot {
namespace {

class AdamW final : public Optimizer {
 public:
  AdamW(const OptimConfig& config, const PlacedTensors& placed)
      : config_(config),
        corrections1_(placed.find(update_table_row("corrections1"))),
        roots2_(placed.find(update_table_row("roots2"))) {}

  void update(Context& ctx, const UpdateInputs& inputs,
              std::span<const OwnedShard> shards) override {
    std::vector<AdamWTensors> tensors;
    for (const auto& [parameter, shard] : shards) {
      const bool decayed = parameter->role != Role::Norm && parameter->role != Role::Bias;
      tensors.push_back({shard->master, shard->gradient, shard->states[0], shard->states[1],
                         shard->weight, decayed ? config_.weight_decay : 0.0,
                         tensor_id(parameter->name), static_cast<uint64_t>(shard->range.begin)});
    }
    adamw(ctx,
          {inputs.lr, config_.beta1, config_.beta2, config_.eps, inputs.seed, inputs.scalars,
           corrections1_, roots2_},
          tensors);
  }

 private:
  const OptimConfig config_;
  Tensor corrections1_, roots2_;  // by the count of updates
};

}  // namespace

std::unique_ptr<Optimizer> adamw_optimizer(const OptimizerSetup& setup) {
  return std::make_unique<AdamW>(setup.config, setup.placed);
}

}  // namespace ingot
