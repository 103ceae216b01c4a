#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

#include "core/async/lane_order.h"
#include "core/error/foreign_error.h"

namespace ingot {
namespace {

std::exception_ptr named(const std::exception_ptr& failure, const std::string& work) {
  try {
    std::rethrow_exception(failure);
  } catch (const std::exception& error) {
    return std::make_exception_ptr(translated(error).during(work));
  }
}

// One thread that takes work from a queue.
class WorkerLane final : public Lane {
 public:
  WorkerLane(const Context& compute, const LaneOptions& options)
      : side_(compute, options.threads), delayer_(options.delay), thread_([this] { serve(); }) {}
  ~WorkerLane() override {
    {
      const std::scoped_lock lock(mutex_);
      closed_ = true;
    }
    changed_.notify_one();
    thread_.join();
  }

  Context& context() override { return *side_; }

  void issue(std::function<void(Context&)> work) override {
    enqueue([this, work = std::move(work)] {
      attempt([&] {
        delayer_.wait(*side_);
        work(*side_);
      });
    });
  }

  Ticket mark(std::string name) override {
    auto pending = std::make_shared<PendingWork>(std::move(name));
    enqueue([this, pending] {
      std::shared_ptr<StreamEvent> event;
      attempt([&] { event = end_of_work(*side_); });
      // The first ticket after a failure knows what failed; later ones carry that name.
      if (failure_ && !is_named_) failure_ = named(failure_, pending->name());
      is_named_ = failure_ != nullptr;
      if (failure_)
        pending->fail(failure_);
      else
        pending->settle(std::move(event));
    });
    return Ticket(std::move(pending));
  }

  void after(const Ticket& ticket) override {
    enqueue([this, ticket] { attempt([&] { order_behind(*side_, ticket); }); });
  }

 private:
  void enqueue(std::function<void()> step) {
    {
      const std::scoped_lock lock(mutex_);
      steps_.push_back(std::move(step));
    }
    changed_.notify_one();
  }

  // On the thread of the lane, as all below.
  template <class Step>
  void attempt(const Step& step) {
    if (failure_) return;
    try {
      step();
    } catch (...) {
      failure_ = std::current_exception();
    }
  }

  void serve() {
    attempt([this] {
      if (side_->cuda != nullptr) make_current(*side_->cuda);
    });
    for (;;) {
      std::function<void()> step;
      {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return closed_ || !steps_.empty(); });
        if (steps_.empty()) break;
        step = std::move(steps_.front());
        steps_.pop_front();
      }
      step();
    }
    attempt([this] {
      if (side_->cuda != nullptr) synchronize(*side_->cuda);
    });
  }

  SideContext side_;
  Delayer delayer_;
  std::exception_ptr failure_;
  bool is_named_ = false;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> steps_;
  bool closed_ = false;
  std::thread thread_;  // the last to begin
};

}  // namespace

std::unique_ptr<Lane> worker_lane(const Context& compute, const LaneOptions& options) {
  return std::make_unique<WorkerLane>(compute, options);
}

}  // namespace ingot
