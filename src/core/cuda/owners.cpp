#include "core/cuda/owners.h"

#include "core/cuda/launch.h"
#include "core/error/error.h"

namespace ingot {
namespace {

OwnedEvent make_event(unsigned flags) {
  cudaEvent_t event = nullptr;
  cuda_check(cudaEventCreateWithFlags(&event, flags));
  return OwnedEvent(event);
}

}  // namespace

OwnedStream make_stream() {
  cudaStream_t stream = nullptr;
  cuda_check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  return OwnedStream(stream);
}

OwnedEvent make_event() {
  return make_event(cudaEventDisableTiming);
}

OwnedEvent make_timing_event() {
  return make_event(cudaEventDefault);
}

PinnedMemory allocate_pinned(int64_t bytes) {
  void* data = nullptr;
  const cudaError_t status = cudaHostAlloc(&data, static_cast<size_t>(bytes), cudaHostAllocDefault);
  if (status == cudaErrorMemoryAllocation) {
    cudaGetLastError();  // an error that was answered must not meet the next check
    throw Error(ErrorCode::Memory,
                fmt::format("{} bytes of page-locked host memory are not to be had: lower "
                            "train.offload_layers where it is set, or raise the limit (ulimit -l)",
                            bytes));
  }
  cuda_check(status);
  return PinnedMemory(data);
}

}  // namespace ingot
