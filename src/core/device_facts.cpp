#include "core/device_facts.h"

#include <array>

#include "core/cuda_facts.h"
#include "core/error.h"

namespace ingot {
namespace {

struct KnownGpu {
  const char* short_name;
  const char* name;
  int major, minor, num_sms;
  int64_t memory_mib, l2_mib;
};

// As drivers report them: memory as nvidia-smi shows it. Peaks are in spec/gpu_peaks.cpp, by name.
constexpr std::array kKnownGpus = {
    KnownGpu{"h200", "NVIDIA H200", 9, 0, 132, 143771, 60},
    KnownGpu{"h100", "NVIDIA H100 80GB HBM3", 9, 0, 132, 81559, 50},
    KnownGpu{"h100-pcie", "NVIDIA H100 PCIe", 9, 0, 114, 81559, 50},
    KnownGpu{"b200", "NVIDIA B200", 10, 0, 148, 183359, 126},
    KnownGpu{"a100", "NVIDIA A100-SXM4-80GB", 8, 0, 108, 81920, 40},
    KnownGpu{"a100-40gb", "NVIDIA A100-SXM4-40GB", 8, 0, 108, 40960, 40},
    KnownGpu{"l40s", "NVIDIA L40S", 8, 9, 142, 46068, 96},
    KnownGpu{"l4", "NVIDIA L4", 8, 9, 58, 23034, 48},
    KnownGpu{"a6000", "NVIDIA RTX A6000", 8, 6, 84, 49140, 6},
    KnownGpu{"rtx5090", "NVIDIA GeForce RTX 5090", 12, 0, 170, 32607, 96},
    KnownGpu{"rtx4090", "NVIDIA GeForce RTX 4090", 8, 9, 128, 24564, 72},
    KnownGpu{"rtx3090", "NVIDIA GeForce RTX 3090", 8, 6, 82, 24576, 6},
};

}  // namespace

DeviceFacts device_facts(Device device) {
  if (device.kind == DeviceKind::Cpu) return {};
  const auto facts = cuda_facts();
  const size_t count = facts ? facts->devices.size() : 0;
  const auto index = static_cast<size_t>(device.index);
  check(index < count, ErrorCode::Missing, "there is no {}: this machine has {} usable GPUs",
        device, count);
  return facts->devices[index];
}

std::optional<DeviceFacts> known_gpu(std::string_view name) {
  for (const KnownGpu& gpu : kKnownGpus)
    if (name == gpu.short_name || name == gpu.name)
      return DeviceFacts{.kind = DeviceKind::Cuda,
                         .name = gpu.name,
                         .major = gpu.major,
                         .minor = gpu.minor,
                         .num_sms = gpu.num_sms,
                         .memory_bytes = gpu.memory_mib << 20,
                         .l2_bytes = gpu.l2_mib << 20};
  return std::nullopt;
}

std::vector<std::string> known_gpu_names() {
  std::vector<std::string> names;
  for (const KnownGpu& gpu : kKnownGpus) names.emplace_back(gpu.short_name);
  return names;
}

}  // namespace ingot
