// The device a rank computes on, chosen by name, with the objects its context points to.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/device/context.h"
#include "core/device/cuda_facts.h"

namespace ingot {

// "cpu"; "cuda"; "auto": the first GPU if this build and machine have one, else the CPU, with a
// warning if there is a driver but no usable GPU.
Device choose_device(std::string_view wanted);

// Nothing for the CPU or for a GPU that does not exist.
std::optional<DeviceFacts> gpu_facts(Device device);

// "cpu"; "cuda:0 NVIDIA H200"
std::string device_text(Device device);

// Owns the threads and, on a GPU, the stream and library handles of one context. `cache_dir` as in
// make_cuda_context(). Throws ErrorCode::Missing if the device does not exist.
class ComputeDevice {
 public:
  ComputeDevice(Device device, int num_threads, const std::string& cache_dir);
  ComputeDevice(const ComputeDevice&) = delete;
  ComputeDevice& operator=(const ComputeDevice&) = delete;

  Context& context() { return ctx_; }

 private:
  ThreadPool pool_;
  std::shared_ptr<CudaContext> cuda_;
  Context ctx_;
};

// Waits until all work issued through the context is done. Returns at once on the CPU.
void synchronize(Context& ctx);

// Bytes that can be allocated on the device now.
int64_t available_memory(Device device);

}  // namespace ingot
