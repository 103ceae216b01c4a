// What a device is, as plain data: of this machine, or of a GPU that may be elsewhere. What kernels
// take of memory depends on nothing else of it, so a run can be laid out without the device.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/tensor/device.h"

namespace ingot {

struct DeviceFacts {
  DeviceKind kind = DeviceKind::Cpu;  // of the CPU nothing else is said
  std::string name = {};              // the driver's: "NVIDIA H200"
  int major = 0, minor = 0;           // compute capability
  int num_sms = 0;
  int64_t memory_bytes = 0;
  int64_t l2_bytes = 0;  // the cache that all multiprocessors share

  bool operator==(const DeviceFacts&) const = default;
};

// Of a device of this machine; the CPU always answers. Throws ErrorCode::Missing for a GPU that is
// not there.
DeviceFacts device_facts(Device device);

// By its short name ("h200"), its driver's ("NVIDIA H200"), or the short one with more of what it
// is ("a100-80gb", "RTX 4090", "h100-sxm5"), in any case.
std::optional<DeviceFacts> known_gpu(std::string_view name);
std::vector<std::string> known_gpu_names();            // the short ones, in the order of the table
std::string nearest_gpu_name(std::string_view wrong);  // that known_gpu() knows; empty: none

}  // namespace ingot
