// Collectives of NCCL. All of a communicator's collectives are put on one stream by the caller, so
// that every rank has the order of its own calls over all communicators, as NCCL wants it. Messages
// to and from a peer have NCCL communicators of two ranks, one for each direction, since NCCL
// carries out the calls of one communicator one after the other; a thread puts them, since two
// ranks that both send first would wait for each other when the communicator is made.
#include <condition_variable>
#include <thread>

#include "core/async/lane_order.h"
#include "core/cuda/launch.h"
#include "core/device/cuda_backend.h"
#include "core/error/foreign_error.h"
#include "parallel/comm/cuda/nccl_library.h"
#include "parallel/comm/cuda/nccl_link.h"
#include "parallel/comm/wire/wire.h"

namespace ingot {
namespace {

constexpr auto kWatchTime = std::chrono::milliseconds(10);

// One order of calls: the collectives, or what goes to or comes from one peer.
struct Line {
  std::shared_ptr<NcclLink> link;
  std::unique_ptr<Lane> lane;
};

class NcclCommunicator final : public Communicator {
 public:
  NcclCommunicator(HostPlane& plane, std::string name, std::vector<int> ranks, int member,
                   const Context& compute)
      : plane_(plane),
        name_(std::move(name)),
        ranks_(std::move(ranks)),
        member_(member),
        compute_(compute),
        collectives_{std::make_shared<NcclLink>(plane, name_, ranks_, member, compute),
                     side_lane(compute, {.threads = 0})} {
    links_.push_back(collectives_.link);
    collectives_.link->connect();
    watcher_ = std::jthread([this](const std::stop_token& stop) { watch(stop); });
  }

  ~NcclCommunicator() override {
    watcher_.request_stop();
    watcher_.join();
    for (const auto& link : links_) link->withdraw();
    // Lanes end first: they wait for their streams, whose memory the links hold.
    collectives_.lane.reset();
    for (auto& [key, line] : messages_) line.lane.reset();
  }

  int rank() const override { return member_; }
  int size() const override { return static_cast<int>(ranks_.size()); }
  Device device() const override { return compute_.device; }
  bool capturable() const override { return true; }
  void expect_tensors_in(const Tensor& memory) override {
    collectives_.link->register_memory(memory);
  }

 private:
  Ticket start(const CollectiveCall& call, const Ticket& after) override {
    const bool reduces =
        call.kind == Collective::AllReduce || call.kind == Collective::ReduceScatter;
    check(!reduces || call.in.dtype != DType::U16, ErrorCode::Missing,
          "NCCL does not reduce u16, got {}", call);
    Line& line = line_of(call);
    auto pending = std::make_shared<PendingWork>(call.str());
    line.lane->issue([link = line.link, call, after, pending](Context& ctx) {
      try {
        order_behind(ctx, after);
      } catch (const std::exception& error) {
        return pending->fail(std::make_exception_ptr(translated(error).during(call.str())));
      }
      try {
        pending->settle(link->put(ctx, call));
      } catch (...) {
        pending->fail(std::current_exception());
      }
    });
    return Ticket(std::move(pending));
  }

  Line& line_of(const CollectiveCall& call) {
    const bool sends = call.kind == Collective::Send;
    if (!sends && call.kind != Collective::Recv) return collectives_;
    Line& line = messages_[{call.kind, call.peer}];
    if (!line.lane) {
      const int from = sends ? member_ : call.peer, to = sends ? call.peer : member_;
      const auto rank_of = [this](int member) { return ranks_[static_cast<size_t>(member)]; };
      line.link = std::make_shared<NcclLink>(plane_, fmt::format("{}: {} to {}", name_, from, to),
                                             std::vector<int>{rank_of(from), rank_of(to)},
                                             sends ? 0 : 1, compute_);
      line.lane = worker_lane(compute_, {.threads = 0});
      const std::scoped_lock lock(mutex_);
      links_.push_back(line.link);
    }
    return line;
  }

  void watch(const std::stop_token& stop) {
    make_current(*compute_.cuda);
    std::unique_lock lock(mutex_);
    while (!stop.stop_requested()) {
      const auto links = links_;
      lock.unlock();
      for (const auto& link : links) link->poll();
      lock.lock();
      wake_.wait_for(lock, stop, kWatchTime, [] { return false; });
    }
  }

  HostPlane& plane_;
  const std::string name_;
  const std::vector<int> ranks_;  // by member
  const int member_;
  const Context compute_;
  Line collectives_;
  std::map<std::pair<Collective, int>, Line> messages_;  // by direction and peer

  std::mutex mutex_;
  std::condition_variable_any wake_;
  std::vector<std::shared_ptr<NcclLink>> links_;  // all, for the watcher
  std::jthread watcher_;
};

}  // namespace

std::unique_ptr<Communicator> nccl_communicator(HostPlane& plane, const std::string& name,
                                                std::vector<int> ranks, int member,
                                                const Context& compute) {
  nccl_library();  // says what is missing before anything is made
  return std::make_unique<NcclCommunicator>(plane, name, std::move(ranks), member, compute);
}

}  // namespace ingot
