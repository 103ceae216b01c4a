// A place in the work of a CUDA stream, free of CUDA headers.
#pragma once

namespace ingot {

class CudaContext;  // core/cuda/cuda_context.h

class StreamEvent {
 public:
  virtual ~StreamEvent() = default;
  virtual bool done() = 0;  // all that was put on the stream before it
  virtual void wait() = 0;  // the host waits; throws ErrorCode::Device when some of it failed
  // What is put on the stream of `later` from now on begins after it. Inside a capture this joins
  // the stream to the capture of the event's.
  virtual void before(CudaContext& later) = 0;
};

}  // namespace ingot
