#include "core/device/compute_device.h"

#include <mutex>

#include "core/device/cuda_backend.h"
#include "core/error/error.h"
#include "core/error/log.h"
#include "core/system/memory_info.h"

namespace ingot {
namespace {

// In the words in which "cuda" would be refused.
void warn_of_unusable_gpu() {
  try {
    make_cuda_context(0, "");
  } catch (const Error& error) {
    log::warn("computing_on_cpu", {{"why", error.what()}});
  }
}

}  // namespace

Device choose_device(std::string_view wanted) {
  if (wanted == "cpu") return Device::cpu();
  if (wanted == "cuda") return Device::cuda(0);
  check(wanted == "auto", ErrorCode::Config, "a device is auto, cpu or cuda, got {}", wanted);
  const auto facts = cuda_facts();
  if (facts && !facts->devices.empty()) return Device::cuda(0);
  static std::once_flag warned;
  if (facts && !facts->driver.empty()) std::call_once(warned, warn_of_unusable_gpu);
  return Device::cpu();
}

std::optional<DeviceFacts> gpu_facts(Device device) {
  const auto facts = cuda_facts();
  const auto index = static_cast<size_t>(device.index);
  if (device.kind != DeviceKind::Cuda || !facts || index >= facts->devices.size())
    return std::nullopt;
  return facts->devices[index];
}

std::string device_text(Device device) {
  const auto gpu = gpu_facts(device);
  return gpu ? device.str() + " " + gpu->name : device.str();
}

ComputeDevice::ComputeDevice(Device device, int num_threads, const std::string& cache_dir)
    : pool_(num_threads) {
  if (device.kind == DeviceKind::Cuda) cuda_ = make_cuda_context(device.index, cache_dir);
  ctx_.device = device;
  ctx_.facts = device_facts(device);
  ctx_.pool = &pool_;
  ctx_.cuda = cuda_.get();
}

void synchronize(Context& ctx) {
  if (ctx.cuda != nullptr) synchronize(*ctx.cuda);
}

int64_t available_memory(Device device) {
  return device.kind == DeviceKind::Cuda ? available_cuda_memory(device.index)
                                         : available_memory_bytes();
}

}  // namespace ingot
