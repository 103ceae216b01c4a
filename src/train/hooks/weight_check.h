// Checks that ranks which hold copies of the same weights still agree.
#pragma once

#include <cstdint>

#include "parallel/comm/control.h"
#include "parallel/shard/parameter_store.h"
#include "spec/layout/layout.h"
#include "train/hooks/task.h"

namespace ingot {

// Compares the shards of ranks along dp_replicate by a hash of their bytes, over the host plane.
// Every rank calls it, between steps. Reads all weights once and takes a few MiB of host memory.
// Throws ErrorCode::Numeric on all ranks, naming the first parameter whose copies differ and the
// ranks whose copy differs from most.
void check_weight_copies(Control& control, const Layout& layout, const TensorTable& parameters,
                         const ParameterStore& store, int64_t step);

// The same every `every` steps (0: never), before the other tasks: weights that differ are not
// saved.
class WeightCheckTask final : public Task {
 public:
  explicit WeightCheckTask(int64_t every) : every_(every) {}
  bool due(const TaskTime& now) const override;
  void run(RunView& run) override;

 private:
  int64_t every_;
};

}  // namespace ingot
