#include "core/device/cuda_facts.h"

#include <cuda_runtime_api.h>
#include <fmt/format.h>

namespace ingot {
namespace {

std::string dotted(int version) {
  return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

}  // namespace

std::optional<CudaFacts> cuda_facts() {
  CudaFacts facts;
  facts.runtime = dotted(CUDART_VERSION);
  int driver = 0;
  if (cudaDriverGetVersion(&driver) == cudaSuccess && driver > 0) facts.driver = dotted(driver);
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess) count = 0;
  for (int i = 0; i < count; ++i) {
    cudaDeviceProp properties{};
    if (cudaGetDeviceProperties(&properties, i) != cudaSuccess) continue;
    facts.devices.push_back({.kind = DeviceKind::Cuda,
                             .name = properties.name,
                             .major = properties.major,
                             .minor = properties.minor,
                             .num_sms = properties.multiProcessorCount,
                             .memory_bytes = static_cast<int64_t>(properties.totalGlobalMem),
                             .l2_bytes = properties.l2CacheSize});
  }
  return facts;
}

std::optional<GpuIdentity> gpu_identity(int device) {
  cudaDeviceProp properties{};
  if (cudaGetDeviceProperties(&properties, device) != cudaSuccess) return std::nullopt;
  GpuIdentity identity;
  for (const char byte : properties.uuid.bytes)
    identity.uuid += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  identity.pci = fmt::format("{:04x}:{:02x}:{:02x}.0", properties.pciDomainID, properties.pciBusID,
                             properties.pciDeviceID);
  return identity;
}

}  // namespace ingot
