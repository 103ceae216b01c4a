#include <array>

#include "core/cuda/launch.h"
#include "core/cuda/owners.h"
#include "core/cuda_backend.h"
#include "core/host_memory.h"

namespace ingot {
namespace {

class CudaHostMemory final : public HostMemory {
 public:
  CudaHostMemory(CudaContext& cuda, int64_t bytes)
      : cuda_(cuda), memory_(allocate_pinned(bytes)), stream_(make_stream()) {
    for (OwnedEvent& event : copied_) event = make_event();
  }
  ~CudaHostMemory() override { cudaStreamSynchronize(stream_.get()); }

  void put(const Tensor& tensor, int64_t offset) override {
    copy(at(offset), tensor.data, tensor.bytes(), cudaMemcpyDeviceToHost);
  }
  void fetch(int64_t offset, const Tensor& tensor) override {
    copy(tensor.data, at(offset), tensor.bytes(), cudaMemcpyHostToDevice);
  }
  int64_t ticket() override {
    cuda_check(cudaEventRecord(event_of(++tickets_), stream_.get()));
    return tickets_;
  }
  // The event of an older ticket may have been recorded again for a newer one: waiting for that is
  // more than was asked, never less.
  void wait_for(int64_t ticket) override {
    cuda_check(cudaStreamWaitEvent(cuda_.stream(), event_of(ticket), 0));
  }

 private:
  char* at(int64_t offset) const { return static_cast<char*>(memory_.get()) + offset; }
  void copy(void* to, const void* from, int64_t bytes, cudaMemcpyKind kind) {
    cuda_check(cudaEventRecord(computed_.get(), cuda_.stream()));
    cuda_check(cudaStreamWaitEvent(stream_.get(), computed_.get(), 0));
    cuda_check(cudaMemcpyAsync(to, from, static_cast<size_t>(bytes), kind, stream_.get()));
  }
  cudaEvent_t event_of(int64_t ticket) const {
    return copied_[static_cast<size_t>(ticket) % copied_.size()].get();
  }

  CudaContext& cuda_;
  PinnedMemory memory_;
  OwnedStream stream_;
  OwnedEvent computed_ = make_event();
  std::array<OwnedEvent, 64> copied_;
  int64_t tickets_ = 0;
};

}  // namespace

std::unique_ptr<HostMemory> make_cuda_host_memory(CudaContext& context, int64_t bytes) {
  return std::make_unique<CudaHostMemory>(context, bytes);
}

}  // namespace ingot
