#include "train/start/checkpoint_space.h"

#include "checkpoint/checkpoint.h"
#include "core/error/error.h"
#include "core/text/format.h"
#include "spec/model/transformer_parameters.h"
#include "spec/rows/optimizer_states.h"

namespace ingot {

int64_t checkpoint_bytes(const ResolvedRun& run) {
  const DType compute = run.shape.compute;
  int64_t bytes = 0;
  const TensorTable parameters = transformer_parameters(run.config.model);
  for (const TensorSpec& row : parameters.rows()) {
    int64_t of_element = size_of(accumulation_dtype(compute));
    for (const StateSpec& state : optimizer_states(run.config.optim, compute, row))
      of_element += size_of(state.dtype);
    bytes += row.shape.numel() * of_element;
  }
  return bytes;
}

void check_space(Storage& storage, const ResolvedRun& run) {
  const std::string& dir = run.config.checkpoint.dir;
  const int64_t one = checkpoint_bytes(run);
  const bool has_some = !list_checkpoints(storage, dir).empty();
  const int64_t needed = has_some ? one : 2 * one;
  const auto free = storage.free_bytes(dir);
  check(!free || *free >= needed, ErrorCode::Storage,
        "checkpoint.dir {}: expected {} free for {} of {} ({} bytes), got {} ({} bytes): free some "
        "space, or set checkpoint.dir to a folder on another file system",
        dir, format_bytes(needed), has_some ? "a checkpoint" : "two checkpoints", format_bytes(one),
        needed, format_bytes(free.value_or(0)), free.value_or(0));
}

}  // namespace ingot
