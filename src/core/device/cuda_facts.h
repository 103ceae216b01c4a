// A description of this build's CUDA support and this machine's GPUs. Free of CUDA headers.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/device/device_facts.h"

namespace ingot {

struct CudaFacts {
  std::string runtime;  // "13.0": the version this program was built with
  std::string driver;   // "13.0": the newest runtime the driver supports; empty: no driver
  std::vector<DeviceFacts> devices;  // empty: none is usable
};

// Nothing if this build has no CUDA backend. Never throws: no driver and no device are valid
// results.
std::optional<CudaFacts> cuda_facts();

// Identifies a device of this process among all GPUs.
struct GpuIdentity {
  std::string uuid;  // hexadecimal
  std::string pci;   // "0000:1b:00.0", as /sys/bus/pci/devices has it
};
// Nothing if there is no such GPU. Never throws.
std::optional<GpuIdentity> gpu_identity(int device);

}  // namespace ingot
