// A world, and communicators, that hand everything on: what stands between a rank and the others in
// a test changes one thing of it.
#pragma once

#include <memory>
#include <utility>

#include "core/error/error.h"
#include "parallel/comm/world.h"

namespace ingot::test {

class ForwardingCommunicator : public Communicator {
 public:
  explicit ForwardingCommunicator(std::unique_ptr<Communicator> inner) : inner_(std::move(inner)) {}
  int rank() const override { return inner_->rank(); }
  int size() const override { return inner_->size(); }
  Device device() const override { return inner_->device(); }
  bool capturable() const override { return inner_->capturable(); }

 protected:
  Ticket start(const CollectiveCall& call, const Ticket& after) override {
    switch (call.kind) {
      case Collective::AllReduce:
        return inner_->all_reduce(call.in, call.reduce, after);
      case Collective::AllGather:
        return inner_->all_gather(call.in, call.out, after);
      case Collective::ReduceScatter:
        return inner_->reduce_scatter(call.in, call.out, call.reduce, after);
      case Collective::Broadcast:
        return inner_->broadcast(call.in, call.peer, after);
      case Collective::Send:
        return inner_->send(call.in, call.peer, after);
      case Collective::Recv:
        return inner_->recv(call.in, call.peer, after);
    }
    throw Error(ErrorCode::Internal, "unknown collective");
  }

 private:
  std::unique_ptr<Communicator> inner_;
};

// `inner` must outlive it.
class ForwardingWorld : public World {
 public:
  explicit ForwardingWorld(World& inner) : inner_(inner) {}
  const Process& process() const override { return inner_.process(); }
  Control& control() override { return inner_.control(); }
  Board& board() override { return inner_.board(); }
  Watch& watch() override { return inner_.watch(); }
  const Deadlines& deadlines() const override { return inner_.deadlines(); }
  Transport transport() const override { return inner_.transport(); }
  std::optional<LostRank> loss() override { return inner_.loss(); }
  std::unique_ptr<Communicator> communicator(std::span<const int> ranks,
                                             Context& compute) override {
    return inner_.communicator(ranks, compute);
  }

 private:
  World& inner_;
};

}  // namespace ingot::test
