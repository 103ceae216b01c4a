#include <fmt/format.h>

#include "parallel/comm/local/local_ranks.h"

namespace ingot {
namespace {

// One order of calls: the collectives, or what goes to or comes from one peer.
struct Channel {
  std::shared_ptr<LocalGroup> group;
  int member = 0;
  std::string among;  // ranks, for messages
  std::unique_ptr<Lane> lane;
};

class LocalCommunicator final : public Communicator {
 public:
  LocalCommunicator(LocalRanks& all, std::string name, std::vector<int> ranks, int member,
                    const Context& compute, const LaneDelay& delay)
      : all_(all),
        name_(std::move(name)),
        ranks_(std::move(ranks)),
        member_(member),
        compute_(compute),
        delay_(delay),
        collectives_{all.group(name_, ranks_), member, text_of_ranks(ranks_), make_lane()} {}

  ~LocalCommunicator() override {
    collectives_.group->point().withdraw(member_);
    for (const auto& [key, channel] : pairs_) channel.group->point().withdraw(channel.member);
  }

  int rank() const override { return member_; }
  int size() const override { return static_cast<int>(ranks_.size()); }
  Device device() const override { return compute_.device; }
  // Ranks meet on the host for every call.
  bool capturable() const override { return false; }

 private:
  Ticket start(const CollectiveCall& call, const Ticket& after) override {
    Channel& channel = channel_of(call);
    const std::string what = fmt::format("{} among {}", call, channel.among);
    channel.lane->after(after);
    channel.lane->issue([group = channel.group, member = channel.member, call, what](Context& ctx) {
      group->take_part(ctx, member, call, what);
    });
    const int rank = ranks_[static_cast<size_t>(member_)];
    return channel.lane->mark(fmt::format("{} at step {}", what, all_.watch(rank).step()));
  }

  Channel& channel_of(const CollectiveCall& call) {
    const bool sends = call.kind == Collective::Send;
    if (!sends && call.kind != Collective::Recv) return collectives_;
    Channel& channel = pairs_[{call.kind, call.peer}];
    if (!channel.lane) {
      const int from = sends ? member_ : call.peer, to = sends ? call.peer : member_;
      const std::vector<int> pair = {ranks_[static_cast<size_t>(from)],
                                     ranks_[static_cast<size_t>(to)]};
      channel.group = all_.group(fmt::format("{}: {} to {}", name_, from, to), pair);
      channel.among = text_of_ranks(pair);
      channel.member = sends ? 0 : 1;
      channel.lane = make_lane();
    }
    return channel;
  }

  // A thread waits for the other ranks, on a GPU too.
  std::unique_ptr<Lane> make_lane() {
    ++delay_.seed;
    return worker_lane(compute_, {.threads = 0, .delay = delay_});
  }

  LocalRanks& all_;
  const std::string name_;
  const std::vector<int> ranks_;  // by member
  const int member_;
  const Context compute_;
  LaneDelay delay_;
  Channel collectives_;
  std::map<std::pair<Collective, int>, Channel> pairs_;  // by direction and peer
};

}  // namespace

std::unique_ptr<Communicator> local_communicator(LocalRanks& all, const std::string& name,
                                                 std::vector<int> ranks, int member,
                                                 const Context& compute, const LaneDelay& delay) {
  return std::make_unique<LocalCommunicator>(all, name, std::move(ranks), member, compute, delay);
}

}  // namespace ingot
