#include <algorithm>

#include "core/async/lane.h"
#include "core/error/error.h"
#include "ops/memory.h"
#include "parallel/comm/communicator.h"
#include "parallel/comm/world.h"

namespace ingot {
namespace {

class SingleCommunicator final : public Communicator {
 public:
  explicit SingleCommunicator(Context& compute) : lane_(compute_lane(compute)) {}

  int rank() const override { return 0; }
  int size() const override { return 1; }
  Device device() const override { return lane_->context().device; }
  bool capturable() const override { return true; }

 private:
  Ticket start(const CollectiveCall& call, const Ticket& after) override {
    lane_->after(after);
    if (call.in.data != call.out.data && call.in.numel() > 0)
      lane_->issue([&](Context& ctx) {
        copy(ctx, call.in.reshape({call.in.numel()}), call.out.reshape({call.out.numel()}));
      });
    return lane_->mark(call.str());
  }

  std::unique_ptr<Lane> lane_;
};

class SingleControl final : public Control {
 public:
  int rank() const override { return 0; }
  int size() const override { return 1; }
  std::vector<std::string> gather(std::string_view, std::string_view own, Timeout) override {
    return {std::string(own)};
  }
};

// Nobody else posts anything.
class SingleBoard final : public Board {
 public:
  void post(const std::string&, const std::string&) override {}
  std::string await(const std::string& key, Timeout) override {
    throw Error(ErrorCode::Internal, "a world of one awaits «" + key + "»");
  }
};

class SingleWorld final : public World {
 public:
  explicit SingleWorld(Device device) { process_.device = device; }

  const Process& process() const override { return process_; }
  Control& control() override { return control_; }
  Board& board() override { return board_; }
  Watch& watch() override { return watch_; }
  const Deadlines& deadlines() const override { return deadlines_; }
  Transport transport() const override { return {"none"}; }
  std::optional<LostRank> loss() override { return std::nullopt; }
  std::unique_ptr<Communicator> communicator(std::span<const int> ranks,
                                             Context& compute) override {
    check_group(ranks);
    return single_communicator(compute);
  }

 private:
  Process process_;
  SingleControl control_;
  SingleBoard board_;
  Watch watch_;
  const Deadlines deadlines_;
};

}  // namespace

std::unique_ptr<Communicator> single_communicator(Context& compute) {
  return std::make_unique<SingleCommunicator>(compute);
}

std::unique_ptr<World> single_world(Device device) {
  return std::make_unique<SingleWorld>(device);
}

}  // namespace ingot
