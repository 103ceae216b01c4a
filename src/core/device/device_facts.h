// A device's properties as plain data, of this machine or of a GPU elsewhere. The kernels' memory
// use depends on nothing else of the device, so a run can be planned without it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/tensor/device.h"

namespace ingot {

struct DeviceFacts {
  DeviceKind kind = DeviceKind::Cpu;  // for the CPU the fields below stay unset
  std::string name = {};              // as the driver reports it: "NVIDIA H200"
  int major = 0, minor = 0;           // compute capability
  int num_sms = 0;
  int64_t memory_bytes = 0;
  int64_t l2_bytes = 0;  // the cache shared by all multiprocessors

  bool operator==(const DeviceFacts&) const = default;
};

// Properties of a device of this machine; always succeeds for the CPU. Throws ErrorCode::Missing
// for a GPU that does not exist.
DeviceFacts device_facts(Device device);

// By short name ("h200"), driver name ("NVIDIA H200") or a longer form of the short name
// ("a100-80gb", "RTX 4090", "h100-sxm5"), ignoring case.
std::optional<DeviceFacts> known_gpu(std::string_view name);
std::vector<std::string> known_gpu_names();            // the short names, in table order
std::string nearest_gpu_name(std::string_view wrong);  // among those of known_gpu(); empty: none

}  // namespace ingot
