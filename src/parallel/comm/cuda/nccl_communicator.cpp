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
#include "parallel/comm/channels.h"
#include "parallel/comm/cuda/nccl_library.h"
#include "parallel/comm/cuda/nccl_link.h"
#include "parallel/comm/wire/wire.h"

namespace ingot {
namespace {

constexpr auto kWatchTime = std::chrono::milliseconds(10);

struct NcclChannel {
  std::shared_ptr<NcclLink> link;
  std::unique_ptr<Lane> lane;
};

class NcclCommunicator final : public Communicator {
 public:
  NcclCommunicator(HostPlane& plane, const std::string& name, std::vector<int> ranks, int member,
                   const Context& compute)
      : plane_(plane),
        size_(static_cast<int>(ranks.size())),
        member_(member),
        compute_(compute),
        channels_({name, std::move(ranks), member}, [&](const ChannelMembers& members) {
          return NcclChannel{std::make_shared<NcclLink>(plane, members.name, members.ranks,
                                                        members.member, compute),
                             side_lane(compute, {.threads = 0})};
        }) {
    links_.push_back(channels_.collectives().link);
    channels_.collectives().link->connect();
    watcher_ = std::jthread([this](const std::stop_token& stop) { watch(stop); });
  }

  ~NcclCommunicator() override {
    watcher_.request_stop();
    watcher_.join();
    for (const auto& link : links_) link->withdraw();
    // Lanes end first: they wait for their streams, whose memory the links hold.
    channels_.for_each([](NcclChannel& channel) { channel.lane.reset(); });
  }

  int rank() const override { return member_; }
  int size() const override { return size_; }
  Device device() const override { return compute_.device; }
  bool capturable() const override { return true; }
  void expect_tensors_in(const Tensor& memory) override {
    channels_.collectives().link->register_memory(memory);
  }

 private:
  Ticket start(const CollectiveCall& call, const Ticket& after) override {
    const bool reduces =
        call.kind == Collective::AllReduce || call.kind == Collective::ReduceScatter;
    check(!reduces || call.in.dtype != DType::U16, ErrorCode::Missing,
          "NCCL does not reduce u16, got {}", call);
    NcclChannel& channel =
        channels_.of(call, [this](const ChannelMembers& members) { return make_channel(members); });
    auto pending = std::make_shared<PendingWork>(call.str());
    channel.lane->issue([link = channel.link, call, after, pending](Context& ctx) {
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

  NcclChannel make_channel(const ChannelMembers& members) {
    NcclChannel channel{
        std::make_shared<NcclLink>(plane_, members.name, members.ranks, members.member, compute_),
        worker_lane(compute_, {.threads = 0})};
    const std::scoped_lock lock(mutex_);
    links_.push_back(channel.link);
    return channel;
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
  const int size_;
  const int member_;
  const Context compute_;
  Channels<NcclChannel> channels_;

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
