#include <array>

#include "core/cuda/launch.h"
#include "core/cuda/owners.h"
#include "core/cuda_backend.h"
#include "core/host_memory.h"

namespace ingot {
namespace {

class CudaHostCopies final : public HostCopies {
 public:
  explicit CudaHostCopies(CudaContext& cuda) : cuda_(cuda), stream_(make_stream()) {
    for (OwnedEvent& event : copied_) event = make_event();
  }
  ~CudaHostCopies() override { cudaStreamSynchronize(stream_.get()); }

  void copy(const Tensor& from, const Tensor& to) override {
    cuda_check(cudaEventRecord(computed_.get(), cuda_.stream()));
    cuda_check(cudaStreamWaitEvent(stream_.get(), computed_.get(), 0));
    cuda_check(cudaMemcpyAsync(to.data, from.data, static_cast<size_t>(from.bytes()),
                               cudaMemcpyDefault, stream_.get()));
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
  cudaEvent_t event_of(int64_t ticket) const {
    return copied_[static_cast<size_t>(ticket) % copied_.size()].get();
  }

  CudaContext& cuda_;
  OwnedStream stream_;
  OwnedEvent computed_ = make_event();
  std::array<OwnedEvent, 64> copied_;
  int64_t tickets_ = 0;
};

}  // namespace

std::unique_ptr<HostCopies> make_cuda_host_copies(CudaContext& context) {
  return std::make_unique<CudaHostCopies>(context);
}

}  // namespace ingot
