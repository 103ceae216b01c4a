#include "core/async/lane.h"

#include <thread>

#include "core/async/lane_order.h"
#include "core/error/error.h"

namespace ingot {
namespace {

// Whoever issues work carries it out, which on a GPU means: puts it on the stream.
class CallerLane : public Lane {
 public:
  CallerLane(Context& ctx, const LaneDelay& delay) : ctx_(ctx), delayer_(delay) {}

  Context& context() override { return ctx_; }
  void issue(std::function<void(Context&)> work) override {
    delayer_.wait(ctx_);
    work(ctx_);
  }
  Ticket mark(std::string name) override {
    auto pending = std::make_shared<PendingWork>(std::move(name));
    pending->settle(end_of_work(ctx_));
    return Ticket(std::move(pending));
  }
  void after(const Ticket& ticket) override { order_behind(ctx_, ticket); }

 private:
  Context& ctx_;
  Delayer delayer_;
};

struct OwnContext {
  SideContext side;
};

// A stream of its own.
class StreamLane final : private OwnContext, public CallerLane {
 public:
  StreamLane(const Context& compute, const LaneOptions& options)
      : OwnContext{SideContext(compute, options.threads)}, CallerLane(*side, options.delay) {}
  ~StreamLane() override {
    try {
      synchronize(*side->cuda);
    } catch (const Error&) {  // NOLINT: whoever waits for a ticket learns of it
    }
  }
};

}  // namespace

void Delayer::wait(Context& ctx) {
  if (most_.count() == 0) return;
  const double share = random_.uniform(pieces_++);
  const auto time =
      std::chrono::microseconds(static_cast<int64_t>(share * static_cast<double>(most_.count())));
  if (ctx.cuda != nullptr)
    spin(*ctx.cuda, time);
  else
    std::this_thread::sleep_for(time);
}

SideContext::SideContext(const Context& compute, int threads) : ctx_(compute) {
  if (threads > 0) pool_ = std::make_unique<ThreadPool>(threads);
  if (compute.cuda != nullptr) cuda_ = make_cuda_context(compute.device.index, "");
  ctx_.pool = pool_.get();
  ctx_.cuda = cuda_.get();
  ctx_.workspace = {};
}

std::unique_ptr<Lane> compute_lane(Context& compute, const LaneDelay& delay) {
  return std::make_unique<CallerLane>(compute, delay);
}

std::unique_ptr<Lane> side_lane(const Context& compute, const LaneOptions& options) {
  if (compute.cuda == nullptr) return worker_lane(compute, options);
  return std::make_unique<StreamLane>(compute, options);
}

}  // namespace ingot
