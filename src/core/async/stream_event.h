// A position in a CUDA stream, free of CUDA headers.
#pragma once

namespace ingot {

class CudaContext;  // core/cuda/cuda_context.h

class StreamEvent {
 public:
  virtual ~StreamEvent() = default;
  virtual bool done() = 0;  // whether all earlier work on the stream is done
  virtual void wait() = 0;  // the host waits; throws ErrorCode::Device if any of it failed
  // Work put on the stream of `later` from now on starts after this event. If the event's stream is
  // being captured, this joins the stream of `later` to that capture.
  virtual void before(CudaContext& later) = 0;
};

}  // namespace ingot
