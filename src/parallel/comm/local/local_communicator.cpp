#include <fmt/format.h>

#include "parallel/comm/channels.h"
#include "parallel/comm/local/local_ranks.h"

namespace ingot {
namespace {

struct LocalChannel {
  std::shared_ptr<LocalGroup> group;
  int member = 0;
  std::string among;  // ranks, for messages
  std::unique_ptr<Lane> lane;
};

class LocalCommunicator final : public Communicator {
 public:
  LocalCommunicator(LocalRanks& all, const std::string& name, std::vector<int> ranks, int member,
                    const Context& compute, const LaneDelay& delay)
      : all_(all),
        ranks_(std::move(ranks)),
        member_(member),
        compute_(compute),
        delay_(delay),
        channels_({name, ranks_, member},
                  [this](const ChannelMembers& members) { return make_channel(members); }) {}

  ~LocalCommunicator() override {
    channels_.for_each(
        [](const LocalChannel& channel) { channel.group->point().withdraw(channel.member); });
  }

  int rank() const override { return member_; }
  int size() const override { return static_cast<int>(ranks_.size()); }
  Device device() const override { return compute_.device; }
  // Ranks meet on the host for every call.
  bool capturable() const override { return false; }

 private:
  Ticket start(const CollectiveCall& call, const Ticket& after) override {
    LocalChannel& channel =
        channels_.of(call, [this](const ChannelMembers& members) { return make_channel(members); });
    const std::string what = fmt::format("{} among {}", call, channel.among);
    channel.lane->after(after);
    channel.lane->issue([group = channel.group, member = channel.member, call, what](Context& ctx) {
      group->take_part(ctx, member, call, what);
    });
    const int rank = ranks_[static_cast<size_t>(member_)];
    return channel.lane->mark(fmt::format("{} at step {}", what, all_.watch(rank).step()));
  }

  // A thread waits for the other ranks, on a GPU too.
  LocalChannel make_channel(const ChannelMembers& members) {
    ++delay_.seed;
    return {all_.group(members.name, members.ranks), members.member, text_of_ranks(members.ranks),
            worker_lane(compute_, {.threads = 0, .delay = delay_})};
  }

  LocalRanks& all_;
  const std::vector<int> ranks_;  // by member
  const int member_;
  const Context compute_;
  LaneDelay delay_;
  Channels<LocalChannel> channels_;
};

}  // namespace

std::unique_ptr<Communicator> local_communicator(LocalRanks& all, const std::string& name,
                                                 std::vector<int> ranks, int member,
                                                 const Context& compute, const LaneDelay& delay) {
  return std::make_unique<LocalCommunicator>(all, name, std::move(ranks), member, compute, delay);
}

}  // namespace ingot
