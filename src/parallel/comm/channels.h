// What a communicator puts its calls on.
#pragma once

#include <fmt/format.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "parallel/comm/communicator.h"

namespace ingot {

// Who takes part in one order of calls.
struct ChannelMembers {
  std::string name;        // equal on all members, and no other channel's
  std::vector<int> ranks;  // by member of the channel
  int member = 0;          // this rank
};

// A communicator's channels. Calls on one channel are carried out in order: collectives have one
// channel, and messages have one per peer and direction, since two ranks may both send first.
template <class Channel>
class Channels {
 public:
  // `all`: the communicator's members; make(ChannelMembers): the channel of its collectives.
  template <class Make>
  Channels(ChannelMembers all, const Make& make) : all_(std::move(all)), collectives_(make(all_)) {}

  Channel& collectives() { return collectives_; }

  // The channel of a call. The first message to or from a peer makes its channel by
  // make(ChannelMembers), whose member 0 sends and whose member 1 receives.
  template <class Make>
  Channel& of(const CollectiveCall& call, const Make& make) {
    const bool sends = call.kind == Collective::Send;
    if (!sends && call.kind != Collective::Recv) return collectives_;
    const std::pair key(call.kind, call.peer);
    auto found = messages_.find(key);
    if (found == messages_.end()) {
      const int from = sends ? all_.member : call.peer, to = sends ? call.peer : all_.member;
      const auto rank_of = [this](int member) { return all_.ranks[static_cast<size_t>(member)]; };
      found =
          messages_
              .emplace(key,
                       make(ChannelMembers{.name = fmt::format("{}: {} to {}", all_.name, from, to),
                                           .ranks = {rank_of(from), rank_of(to)},
                                           .member = sends ? 0 : 1}))
              .first;
    }
    return found->second;
  }

  template <class F>
  void for_each(const F& f) {
    f(collectives_);
    for (auto& [key, channel] : messages_) f(channel);
  }

 private:
  const ChannelMembers all_;
  Channel collectives_;
  std::map<std::pair<Collective, int>, Channel> messages_;  // by direction and peer
};

}  // namespace ingot
