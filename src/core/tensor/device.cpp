#include "core/tensor/device.h"

#include <fmt/format.h>

namespace ingot {

std::string Device::str() const {
  return kind == DeviceKind::Cpu ? "cpu" : fmt::format("cuda:{}", index);
}

}  // namespace ingot
