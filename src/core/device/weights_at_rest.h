// Lets GPU kernels read weights before the kernel issued before them has ended.
#pragma once

#include "core/device/context.h"

namespace ingot {

// While it lives, the caller promises that nothing issued through this GPU's context writes
// weights. On the CPU it does nothing.
class WeightsAtRest {
 public:
  explicit WeightsAtRest(const Context& ctx);
  ~WeightsAtRest();
  WeightsAtRest(const WeightsAtRest&) = delete;
  WeightsAtRest& operator=(const WeightsAtRest&) = delete;

 private:
  CudaContext* cuda_;
  bool before_ = false;
};

}  // namespace ingot
