// The scales of a run's 8-bit tensors: the model reads them, each step updates them (docs/fp8.md).
#pragma once

#include <memory>
#include <vector>

#include "core/async/lane.h"
#include "core/device/context.h"
#include "core/storage/state_section.h"
#include "ops/update/update_scalars.h"
#include "parallel/comm/communicator.h"
#include "spec/table/placed_tensors.h"

namespace ingot {

class Fp8Scales final : public StateSection {
 public:
  // `placed` holds the rows of a table with fp8. `ranks`: those whose micro-batches form a step;
  // all call init(), load() and update() alike. All arguments must outlive this object.
  Fp8Scales(Context& ctx, const PlacedTensors& placed, Communicator& ranks)
      : ctx_(ctx), placed_(placed), ranks_(ranks), lane_(compute_lane(ctx)) {}

  // Initial guesses for a run, for gradients of `scale` · Σ token losses.
  void init(double scale);
  // Call it after the micro-steps of a step: sets the next step's scales from the maxima of all
  // ranks, equal on all. A skipped step, according to its scalars, changes none. Does not wait.
  void update(const UpdateScalars& scalars);

  std::string_view name() const override { return "fp8_scales"; }
  std::string save() const override;  // a list of numbers: histories and scales
  void load(std::string_view saved) override;

 private:
  std::vector<float> read() const;
  void restore(const std::vector<float>& saved);

  Context& ctx_;
  const PlacedTensors& placed_;
  Communicator& ranks_;
  std::unique_ptr<Lane> lane_;  // of ctx_
};

}  // namespace ingot
