// One rank's use of one GPU: a stream, the device's properties and the handles of NVIDIA's
// libraries.
#pragma once

#include <cuda_runtime_api.h>

#include <memory>
#include <string>
#include <typeindex>
#include <unordered_map>

#include "core/cuda/owners.h"
#include "core/device/context.h"

namespace ingot {

class CudaContext {
 public:
  CudaContext(int device, std::string cache_dir);  // makes `device` current on this thread
  CudaContext(const CudaContext&) = delete;
  CudaContext& operator=(const CudaContext&) = delete;

  int device() const { return device_; }
  cudaStream_t stream() const { return stream_.get(); }
  const cudaDeviceProp& properties() const { return properties_; }
  int num_sms() const { return properties_.multiProcessorCount; }
  const std::string& cache_dir() const { return cache_dir_; }  // empty: keep nothing

  // kScalarBytes of pinned host memory for results that kernels return to the host. Written by
  // kernels or copies on the stream; valid after synchronize().
  static constexpr int64_t kScalarBytes = 4096;
  void* scalars() const { return scalars_.get(); }
  void synchronize() const;

  // See core/device/weights_at_rest.h.
  bool weights_at_rest() const { return weights_at_rest_; }
  void set_weights_at_rest(bool at_rest) { weights_at_rest_ = at_rest; }

  // This context's only T, constructed as T(CudaContext&) on first use and destroyed before the
  // stream. For cuBLASLt and cuDNN handles, plans and caches of ops/cuda.
  template <class T>
  T& library() {
    std::shared_ptr<void>& slot = libraries_[std::type_index(typeid(T))];
    if (!slot) slot = std::make_shared<T>(*this);
    return *static_cast<T*>(slot.get());
  }

 private:
  int device_;
  std::string cache_dir_;
  cudaDeviceProp properties_{};
  OwnedStream stream_;
  PinnedMemory scalars_;
  bool weights_at_rest_ = false;
  std::unordered_map<std::type_index, std::shared_ptr<void>> libraries_;  // destroyed first
};

// The stream that work issued through `ctx` is put on.
inline cudaStream_t stream_of(const Context& ctx) {
  return ctx.cuda->stream();
}

}  // namespace ingot
