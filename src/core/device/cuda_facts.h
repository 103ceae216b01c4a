// What the CUDA side of this build and machine is, in words. Free of CUDA headers.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/device/device_facts.h"

namespace ingot {

struct CudaFacts {
  std::string runtime;  // "13.0": what this program was built with
  std::string driver;   // "13.0": the newest runtime the driver serves; empty: no driver
  std::vector<DeviceFacts> devices;  // empty: none usable
};

// Nothing when this build has no CUDA backend. Never throws: no driver and no device are answers.
std::optional<CudaFacts> cuda_facts();

// Which of all GPUs a device of this process is.
struct GpuIdentity {
  std::string uuid;  // hexadecimal
  std::string pci;   // "0000:1b:00.0", as /sys/bus/pci/devices has it
};
// Nothing where there is no such GPU. Never throws.
std::optional<GpuIdentity> gpu_identity(int device);

}  // namespace ingot
