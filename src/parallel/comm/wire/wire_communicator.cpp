#include <fmt/format.h>

#include "core/async/lane.h"
#include "parallel/comm/wire/wire_line.h"

namespace ingot {
namespace {

class WireCommunicator final : public Communicator {
 public:
  WireCommunicator(Wire& wire, HostPlane& plane, std::string name, std::vector<int> ranks,
                   int member, const Context& compute, const LaneDelay& delay)
      : wire_(wire),
        plane_(plane),
        name_(std::move(name)),
        ranks_(std::move(ranks)),
        member_(member),
        compute_(compute),
        delay_(delay),
        collectives_(make_order(name_, ranks_, member_)) {}

  ~WireCommunicator() override {
    collectives_.line->close();
    for (const auto& [key, order] : pairs_) order.line->close();
  }

  int rank() const override { return member_; }
  int size() const override { return static_cast<int>(ranks_.size()); }
  Device device() const override { return compute_.device; }
  bool capturable() const override { return false; }  // the host waits for every call

 private:
  struct Order {
    std::unique_ptr<WireLine> line;
    std::unique_ptr<Lane> lane;  // the first to go
  };

  Ticket start(const CollectiveCall& call, const Ticket& after) override {
    Order& order = order_of(call);
    order.lane->after(after);
    order.lane->issue(
        [line = order.line.get(), call](Context& ctx) { line->take_part(ctx, call); });
    return order.lane->mark(
        fmt::format("{} at step {}", order.line->text_of(call), plane_.watch().step()));
  }

  Order& order_of(const CollectiveCall& call) {
    const bool sends = call.kind == Collective::Send;
    if (!sends && call.kind != Collective::Recv) return collectives_;
    Order& order = pairs_[{call.kind, call.peer}];
    if (!order.lane) {
      const int from = sends ? member_ : call.peer, to = sends ? call.peer : member_;
      const auto rank_of = [this](int member) { return ranks_[static_cast<size_t>(member)]; };
      order = make_order(fmt::format("{}: {} to {}", name_, from, to), {rank_of(from), rank_of(to)},
                         sends ? 0 : 1);
    }
    return order;
  }

  Order make_order(const std::string& name, const std::vector<int>& ranks, int member) {
    ++delay_.seed;
    return {
        std::make_unique<WireLine>(wire_.open(name, ranks), plane_, ranks, member, compute_.device),
        worker_lane(compute_, {.threads = 0, .delay = delay_})};
  }

  Wire& wire_;
  HostPlane& plane_;
  const std::string name_;
  const std::vector<int> ranks_;  // by member
  const int member_;
  const Context compute_;
  LaneDelay delay_;
  Order collectives_;
  std::map<std::pair<Collective, int>, Order> pairs_;  // by direction and peer
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
