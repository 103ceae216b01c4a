// One update of a toy rank's parameters by an updater of its own.
#pragma once

#include "optim/updater.h"
#include "spec/rows/optimizer_states.h"
#include "support/toy_store.h"

namespace ingot::testing {

inline TensorTable update_rows(const OptimConfig& config) {
  TensorTable table;
  add_update_rows(table, config);
  return table;
}

// An updater and its rows; `rank`, any that has ctx, parameters, layout and store, must outlive it.
class ToyUpdater {
 public:
  template <class Rank>
  ToyUpdater(Rank& rank, const OptimConfig& config)
      : placed_(update_rows(config), rank.ctx.device),
        updater_(rank.ctx, rank.parameters, rank.layout, *rank.store, config, placed_) {}

  UpdateReport operator()(const UpdateStep& step) {
    updater_.update(step);
    return updater_.take_report();
  }
  Updater& updater() { return updater_; }
  int64_t count() const { return *placed_.find(kUpdateCount).as<int64_t>(); }

 private:
  PlacedTensors placed_;
  Updater updater_;
};

}  // namespace ingot::testing
