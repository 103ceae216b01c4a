#include "core/compute_device.h"

#include "core/cuda_backend.h"
#include "core/cuda_facts.h"
#include "core/error.h"
#include "core/memory_info.h"

namespace ingot {

Device choose_device(std::string_view wanted) {
  if (wanted == "cpu") return Device::cpu();
  if (wanted == "cuda") return Device::cuda(0);
  check(wanted == "auto", ErrorCode::Config, "a device is auto, cpu or cuda, got {}", wanted);
  const auto facts = cuda_facts();
  return facts && !facts->devices.empty() ? Device::cuda(0) : Device::cpu();
}

ComputeDevice::ComputeDevice(Device device, int num_threads, const std::string& cache_dir)
    : pool_(num_threads) {
  if (device.kind == DeviceKind::Cuda) cuda_ = make_cuda_context(device.index, cache_dir);
  ctx_.device = device;
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
