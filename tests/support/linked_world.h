// A world whose ranks are as far apart as one says: every collective takes the time that its bytes
// would on a link, besides what it takes anyway. On the CPU a lane sleeps, on a GPU one block
// spins.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <thread>
#include <utility>

#include "core/async/lane.h"
#include "core/device/cuda_backend.h"
#include "support/forwarding_world.h"

namespace ingot::test {

struct Link {
  std::chrono::microseconds latency{0};
  double bytes_per_second = 0.0;  // out of and into each rank; 0: without limit
};

// What collectives took of the link.
struct LinkUse {
  std::atomic<int64_t> calls{0};
  std::atomic<int64_t> bytes{0};
  std::atomic<int64_t> microseconds{0};
  // On the CPU, where set: hears of each call when the link was busy with it. From any thread.
  using Clock = std::chrono::steady_clock;
  std::function<void(Collective, Clock::time_point begin, Clock::time_point end)> busy = {};
};

// Bytes that a rank sends, and gets, by the algorithms that send least.
inline int64_t bytes_on_link(const CollectiveCall& call, int ranks) {
  const int64_t whole = std::max(call.in.bytes(), call.out.bytes());
  switch (call.kind) {
    case Collective::AllReduce:
      return 2 * whole * (ranks - 1) / ranks;
    case Collective::AllGather:
    case Collective::ReduceScatter:
      return whole * (ranks - 1) / ranks;
    case Collective::Broadcast:
    case Collective::Send:
    case Collective::Recv:
      return whole;
  }
  return 0;
}

class LinkedCommunicator final : public ForwardingCommunicator {
 public:
  LinkedCommunicator(std::unique_ptr<Communicator> inner, const Context& compute, const Link& link,
                     LinkUse& use)
      : ForwardingCommunicator(std::move(inner)),
        link_(link),
        use_(use),
        lane_(side_lane(compute, {.threads = 0})) {}
  bool capturable() const override { return false; }

 private:
  Ticket start(const CollectiveCall& call, const Ticket& after) override {
    const int64_t bytes = bytes_on_link(call, size());
    std::chrono::microseconds time = link_.latency;
    if (link_.bytes_per_second > 0)
      time += std::chrono::microseconds(
          static_cast<int64_t>(static_cast<double>(bytes) / link_.bytes_per_second * 1e6));
    if (rank() == 0) {
      ++use_.calls;
      use_.bytes += bytes;
      use_.microseconds += time.count();
    }
    if (time.count() == 0) return ForwardingCommunicator::start(call, after);
    lane_->after(after);
    const auto busy = rank() == 0 ? use_.busy : nullptr;
    lane_->issue([time, busy, kind = call.kind](Context& ctx) {
      if (ctx.cuda != nullptr) return spin(*ctx.cuda, time);
      const auto begin = LinkUse::Clock::now();
      std::this_thread::sleep_for(time);
      if (busy) busy(kind, begin, LinkUse::Clock::now());
    });
    return ForwardingCommunicator::start(call, lane_->mark("link"));
  }

  const Link link_;
  LinkUse& use_;
  std::unique_ptr<Lane> lane_;
};

// `use` counts rank 0's calls; it and `inner` must outlive this.
class LinkedWorld final : public ForwardingWorld {
 public:
  LinkedWorld(World& inner, const Link& link, LinkUse& use)
      : ForwardingWorld(inner), link_(link), use_(use) {}
  std::unique_ptr<Communicator> communicator(std::span<const int> ranks,
                                             Context& compute) override {
    auto inner = ForwardingWorld::communicator(ranks, compute);
    if (ranks.size() == 1) return inner;
    return std::make_unique<LinkedCommunicator>(std::move(inner), compute, link_, use_);
  }

 private:
  const Link link_;
  LinkUse& use_;
};

}  // namespace ingot::test
