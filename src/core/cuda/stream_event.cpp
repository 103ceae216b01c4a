#include "core/async/stream_event.h"

#include "core/cuda/launch.h"
#include "core/cuda/owners.h"
#include "core/device/cuda_backend.h"
#include "core/error/error.h"

namespace ingot {
namespace {

// An event that is destroyed stays as long as streams wait for it: nobody need keep a ticket.
class CudaEvent final : public StreamEvent {
 public:
  explicit CudaEvent(CudaContext& context) : event_(make_event()) {
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    cuda_check(cudaStreamIsCapturing(context.stream(), &status));
    captured_ = status != cudaStreamCaptureStatusNone;
    cuda_check(cudaEventRecord(event_.get(), context.stream()));
  }

  bool done() override {
    check_not_captured();
    const cudaError_t status = cudaEventQuery(event_.get());
    if (status == cudaErrorNotReady) {
      cudaGetLastError();  // an answer, not an error: it must not meet the next check
      return false;
    }
    return true;  // a failure is for wait() to tell
  }
  void wait() override {
    check_not_captured();
    cuda_check(cudaEventSynchronize(event_.get()));
  }
  void before(CudaContext& later) override {
    cuda_check(cudaStreamWaitEvent(later.stream(), event_.get(), 0));
  }

 private:
  void check_not_captured() const {
    check(!captured_, ErrorCode::Internal,
          "a ticket of recorded work: the host cannot wait for it; put a lane behind it");
  }

  OwnedEvent event_;
  bool captured_ = false;
};

}  // namespace

std::shared_ptr<StreamEvent> record_event(CudaContext& context) {
  return std::make_shared<CudaEvent>(context);
}

}  // namespace ingot
