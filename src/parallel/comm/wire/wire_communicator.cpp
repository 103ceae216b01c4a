#include <fmt/format.h>

#include "core/async/lane.h"
#include "parallel/comm/channels.h"
#include "parallel/comm/wire/wire_line.h"

namespace ingot {
namespace {

struct WireChannel {
  std::unique_ptr<WireLine> line;
  std::unique_ptr<Lane> lane;  // the first to go
};

class WireCommunicator final : public Communicator {
 public:
  WireCommunicator(Wire& wire, HostPlane& plane, const std::string& name, std::vector<int> ranks,
                   int member, const Context& compute, const LaneDelay& delay)
      : wire_(wire),
        plane_(plane),
        size_(static_cast<int>(ranks.size())),
        member_(member),
        compute_(compute),
        delay_(delay),
        channels_({name, std::move(ranks), member},
                  [this](const ChannelMembers& members) { return make_channel(members); }) {}

  ~WireCommunicator() override {
    channels_.for_each([](const WireChannel& channel) { channel.line->close(); });
  }

  int rank() const override { return member_; }
  int size() const override { return size_; }
  Device device() const override { return compute_.device; }
  bool capturable() const override { return false; }  // the host waits for every call

 private:
  Ticket start(const CollectiveCall& call, const Ticket& after) override {
    WireChannel& channel =
        channels_.of(call, [this](const ChannelMembers& members) { return make_channel(members); });
    channel.lane->after(after);
    channel.lane->issue(
        [line = channel.line.get(), call](Context& ctx) { line->take_part(ctx, call); });
    return channel.lane->mark(
        fmt::format("{} at step {}", channel.line->text_of(call), plane_.watch().step()));
  }

  WireChannel make_channel(const ChannelMembers& members) {
    ++delay_.seed;
    return {std::make_unique<WireLine>(wire_.open(members.name, members.ranks), plane_,
                                       members.ranks, members.member, compute_.device),
            worker_lane(compute_, {.threads = 0, .delay = delay_})};
  }

  Wire& wire_;
  HostPlane& plane_;
  const int size_;
  const int member_;
  const Context compute_;
  LaneDelay delay_;
  Channels<WireChannel> channels_;
};

}  // namespace

std::unique_ptr<Communicator> wire_communicator(Wire& wire, HostPlane& plane,
                                                const std::string& name, std::vector<int> ranks,
                                                int member, const Context& compute,
                                                const LaneDelay& delay) {
  return std::make_unique<WireCommunicator>(wire, plane, name, std::move(ranks), member, compute,
                                            delay);
}

}  // namespace ingot
