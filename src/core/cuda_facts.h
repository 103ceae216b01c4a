// What the CUDA side of this build and machine is, in words. Free of CUDA headers.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/device_facts.h"

namespace ingot {

struct CudaFacts {
  std::string runtime;  // "13.0": what this program was built with
  std::string driver;   // "13.0": the newest runtime the driver serves; empty: no driver
  std::vector<DeviceFacts> devices;  // empty: none usable
};

// Nothing when this build has no CUDA backend. Never throws: no driver and no device are answers.
std::optional<CudaFacts> cuda_facts();

}  // namespace ingot
