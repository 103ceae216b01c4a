#include "core/error/error.h"
#include "core/random/random.h"
#include "ops/memory.h"
#include "ops/random_fill.h"
#include "parallel/shard/parameter_store.h"

namespace ingot {

void init_weights(ParameterStore& store, const TensorTable& parameters, uint64_t seed) {
  Context& ctx = store.context();
  for (const ParameterShard& shard : store.shards()) {
    const TensorSpec& row = parameters[shard.parameter];
    switch (row.init) {
      case InitRule::Normal:
        fill_normal(ctx, RandomStream(seed, Purpose::Init, tensor_id(row.name)),
                    static_cast<uint64_t>(shard.range.begin), static_cast<float>(row.init_std),
                    exact_room(shard));
        break;
      case InitRule::Ones:
        fill(ctx, 1.0f, exact_room(shard));
        break;
      case InitRule::None:
        throw Error(ErrorCode::Internal,
                    fmt::format("init: parameter {} has no init rule", row.name));
    }
    take_exact_weights(ctx, shard);
  }
  store.publish_weights();
}

}  // namespace ingot
