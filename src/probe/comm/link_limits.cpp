#include "probe/comm/link_limits.h"

#include <fmt/format.h>

#include <array>

namespace ingot {
namespace {

struct GpuLink {
  const char* gpu;
  const char* kind;
  double gbytes_s;  // one direction
};

// NVLink: half of the data sheets' figures, which count both directions. PCIe: 16 lanes less the
// encoding, 31.5 GB/s of the fourth generation and 63 of the fifth.
constexpr std::array kGpuLinks = {
    GpuLink{"NVIDIA H200", "NVLink", 450},
    GpuLink{"NVIDIA H100 80GB HBM3", "NVLink", 450},
    GpuLink{"NVIDIA H100 PCIe", "PCIe", 63},
    GpuLink{"NVIDIA B200", "NVLink", 900},
    GpuLink{"NVIDIA A100-SXM4-80GB", "NVLink", 300},
    GpuLink{"NVIDIA A100-SXM4-40GB", "NVLink", 300},
    GpuLink{"NVIDIA L40S", "PCIe", 31.5},
    GpuLink{"NVIDIA L4", "PCIe", 31.5},
    GpuLink{"NVIDIA RTX A6000", "PCIe", 31.5},
    GpuLink{"NVIDIA GeForce RTX 5090", "PCIe", 63},
    GpuLink{"NVIDIA GeForce RTX 4090", "PCIe", 31.5},
    GpuLink{"NVIDIA GeForce RTX 3090", "PCIe", 31.5},
};

}  // namespace

LinkLimit gpu_link_limit(std::string_view gpu) {
  for (const GpuLink& link : kGpuLinks)
    if (gpu == link.gpu) return {1e9 * link.gbytes_s, fmt::format("{} of {}", link.kind, gpu)};
  return {};
}

std::string format_bit_rate(double bytes_s) {
  const double bits = 8 * bytes_s;
  if (bits >= 1e9) return fmt::format("{:.1f} Gbit/s", bits / 1e9);
  return fmt::format("{:.0f} Mbit/s", bits / 1e6);
}

}  // namespace ingot
