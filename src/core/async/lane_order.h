// Shared by all kinds of lanes.
#pragma once

#include "core/async/lane.h"
#include "core/async/stream_event.h"
#include "core/device/cuda_backend.h"
#include "core/random/random.h"

namespace ingot {

// Work issued through `ctx` from now on starts after the ticket's work. Throws if that work failed.
inline void order_behind(Context& ctx, const Ticket& ticket) {
  StreamEvent* event = ticket.settled();
  if (event == nullptr) return;
  if (ctx.cuda != nullptr)
    event->before(*ctx.cuda);
  else
    event->wait();
}

// On a GPU, an event after the work issued through `ctx` so far. On the CPU null: it is done.
inline std::shared_ptr<StreamEvent> end_of_work(Context& ctx) {
  return ctx.cuda != nullptr ? record_event(*ctx.cuda) : nullptr;
}

// Waits as a LaneDelay says before each piece of work.
class Delayer {
 public:
  explicit Delayer(const LaneDelay& delay)
      : most_(delay.most), random_(delay.seed, Purpose::Test) {}
  void wait(Context& ctx);

 private:
  std::chrono::microseconds most_;
  RandomStream random_;
  uint64_t pieces_ = 0;
};

// The context of a side lane of `compute`, with the objects it points to.
class SideContext {
 public:
  SideContext(const Context& compute, int threads);
  Context& operator*() { return ctx_; }
  Context* operator->() { return &ctx_; }

 private:
  std::unique_ptr<ThreadPool> pool_;
  std::shared_ptr<CudaContext> cuda_;
  Context ctx_;
};

}  // namespace ingot
