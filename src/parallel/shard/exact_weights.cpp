#include "ops/halves.h"
#include "ops/reduce.h"
#include "parallel/shard/parameter_store.h"

namespace ingot {
namespace {

bool in_halves(const ParameterShard& shard) {
  return shard.master.dtype == DType::U16;
}

}  // namespace

Tensor exact_weights(Context& ctx, const ParameterShard& shard, int64_t begin, int64_t end) {
  const Tensor exact = exact_room(shard).slice(0, begin, end);
  if (in_halves(shard)) {
    join_halves(ctx, shard.weight.slice(0, begin, end), shard.master.slice(0, begin, end), exact);
  }
  return exact;
}

Tensor exact_room(const ParameterShard& shard) {
  return in_halves(shard) ? shard.gradient : shard.master;
}

void take_exact_weights(Context& ctx, const ParameterShard& shard) {
  if (in_halves(shard)) return split_halves(ctx, shard.gradient, shard.weight, shard.master);
  if (shard.weight.data != shard.master.data) cast(ctx, shard.master, shard.weight);
}

}  // namespace ingot
