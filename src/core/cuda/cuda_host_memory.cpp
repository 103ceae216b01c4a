#include <array>

#include "core/cuda/launch.h"
#include "core/cuda_backend.h"
#include "core/error.h"
#include "core/host_memory.h"

namespace ingot {
namespace {

class PinnedMemory final : public HostMemory {
 public:
  PinnedMemory(CudaContext& cuda, int64_t bytes) : cuda_(cuda) {
    const cudaError_t status =
        cudaHostAlloc(&memory_, static_cast<size_t>(bytes), cudaHostAllocDefault);
    if (status == cudaErrorMemoryAllocation) {
      cudaGetLastError();  // an error that was answered must not meet the next check
      throw Error(ErrorCode::Memory,
                  fmt::format("{} bytes of page-locked host memory are not to be had: lower "
                              "train.offload_layers, or raise the limit (ulimit -l)",
                              bytes));
    }
    cuda_check(status);
    cuda_check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
    cuda_check(cudaEventCreateWithFlags(&computed_, cudaEventDisableTiming));
    for (cudaEvent_t& event : copied_)
      cuda_check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
  }
  ~PinnedMemory() override {
    cudaStreamSynchronize(stream_);
    for (cudaEvent_t event : copied_) cudaEventDestroy(event);
    cudaEventDestroy(computed_);
    cudaStreamDestroy(stream_);
    cudaFreeHost(memory_);
  }

  void put(const Tensor& tensor, int64_t offset) override {
    copy(static_cast<char*>(memory_) + offset, tensor.data, tensor.bytes(), cudaMemcpyDeviceToHost);
  }
  void fetch(int64_t offset, const Tensor& tensor) override {
    copy(tensor.data, static_cast<char*>(memory_) + offset, tensor.bytes(), cudaMemcpyHostToDevice);
  }
  int64_t ticket() override {
    cuda_check(cudaEventRecord(event_of(++tickets_), stream_));
    return tickets_;
  }
  // The event of an older ticket may have been recorded again for a newer one: waiting for that is
  // more than was asked, never less.
  void wait_for(int64_t ticket) override {
    cuda_check(cudaStreamWaitEvent(cuda_.stream(), event_of(ticket), 0));
  }

 private:
  void copy(void* to, const void* from, int64_t bytes, cudaMemcpyKind kind) {
    cuda_check(cudaEventRecord(computed_, cuda_.stream()));
    cuda_check(cudaStreamWaitEvent(stream_, computed_, 0));
    cuda_check(cudaMemcpyAsync(to, from, static_cast<size_t>(bytes), kind, stream_));
  }
  cudaEvent_t event_of(int64_t ticket) {
    return copied_[static_cast<size_t>(ticket) % copied_.size()];
  }

  CudaContext& cuda_;
  void* memory_ = nullptr;
  cudaStream_t stream_ = nullptr;
  cudaEvent_t computed_ = nullptr;
  std::array<cudaEvent_t, 64> copied_{};
  int64_t tickets_ = 0;
};

}  // namespace

std::unique_ptr<HostMemory> make_cuda_host_memory(CudaContext& context, int64_t bytes) {
  return std::make_unique<PinnedMemory>(context, bytes);
}

}  // namespace ingot
