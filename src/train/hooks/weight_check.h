// Whether ranks that hold copies of the same weights still hold the same.
#pragma once

#include <cstdint>

#include "parallel/comm/control.h"
#include "parallel/shard/parameter_store.h"
#include "spec/layout/layout.h"
#include "train/hooks/task.h"

namespace ingot {

// Compares the shards of ranks along dp_replicate, by a hash of their bytes that goes through the
// host plane; every rank calls it, between steps. It reads all weights once and takes a few MiB of
// host memory. Throws ErrorCode::Numeric on all ranks, naming the first parameter whose copies
// differ and the ranks that hold another than most.
void check_weight_copies(Control& control, const Layout& layout, const TensorTable& parameters,
                         const ParameterStore& store, int64_t step);

// The same every so many steps; 0: never. Before what else is due: what differs is not saved.
class WeightCheckTask final : public Task {
 public:
  explicit WeightCheckTask(int64_t every) : every_(every) {}
  bool due(const TaskTime& now) const override;
  void run(RunView& run) override;

 private:
  int64_t every_;
};

}  // namespace ingot
