// Where memory lives and kernels run.
#pragma once

#include <string>

namespace ingot {

enum class DeviceKind : unsigned char { Cpu, Cuda };

struct Device {
  DeviceKind kind = DeviceKind::Cpu;
  int index = 0;

  static Device cpu() { return {}; }
  static Device cuda(int index) { return {DeviceKind::Cuda, index}; }
  std::string str() const;  // "cpu", "cuda:0"
  bool operator==(const Device&) const = default;
};

}  // namespace ingot
