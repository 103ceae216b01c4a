#include <gtest/gtest.h>

#include <future>
#include <vector>

#include "core/async/lane.h"
#include "core/async/recorded_work.h"
#include "core/async/stream_event.h"
#include "core/device/arena.h"
#include "core/error/error.h"
#include "ops/memory.h"
#include "support/on_gpu.h"

namespace ingot {
namespace {

using std::chrono::microseconds;

constexpr int64_t kLength = 1 << 20;  // copies take long enough to be overtaken

class CudaLane : public test::OnGpu<::testing::Test> {
 protected:
  Tensor vector(int place) const {
    return memory_->place(place * 4 * kLength, DType::F32, {kLength});
  }
  void SetUp() override {
    OnGpu::SetUp();
    if (!IsSkipped()) memory_.emplace(gpu().device, 16 * kLength);
  }
  static std::vector<float> read(const Tensor& tensor) {
    std::vector<float> values(kLength);
    copy_to_host(gpu(), tensor, values.data());
    return values;
  }
  static std::vector<float> all(float value) { return std::vector<float>(kLength, value); }

  std::optional<Arena> memory_;
};

TEST_F(CudaLane, IsAStreamOfItsOwnOnTheSameDevice) {
  const auto compute = compute_lane(gpu()), side = side_lane(gpu());
  EXPECT_EQ(&compute->context(), &gpu());
  EXPECT_EQ(side->context().device, gpu().device);
  EXPECT_NE(side->context().cuda, gpu().cuda);
}

TEST_F(CudaLane, TicketsKeepTheOrderWhateverTheDelay) {
  const Tensor x = vector(0), y = vector(1), z = vector(2);
  for (uint64_t seed = 0; seed < 5; ++seed) {
    const LaneDelay delay{seed, microseconds(2000)};
    const auto compute = compute_lane(gpu(), delay);
    const auto side = side_lane(gpu(), {.delay = {seed + 50, delay.most}});
    const auto worker = worker_lane(gpu(), {.delay = {seed + 70, delay.most}});
    for (int round = 0; round < 5; ++round) {
      const auto value = static_cast<float>(round + 1);
      compute->issue([&](Context& ctx) { fill(ctx, value, x); });
      side->after(compute->mark("x"));
      side->issue([&](Context& ctx) { copy(ctx, x, y); });
      worker->after(side->mark("y"));
      worker->issue([y, z](Context& ctx) { copy(ctx, y, z); });
      compute->after(worker->mark("z"));
      compute->issue([&](Context& ctx) { fill(ctx, -1.0f, y); });
      EXPECT_EQ(read(z), all(value)) << "seed " << seed << " round " << round;
      side->after(compute->mark("next"));
    }
  }
}

TEST_F(CudaLane, ATicketIsDoneOnceTheDeviceIs) {
  const auto side = side_lane(gpu(), {.delay = {1, microseconds(200000)}});
  side->issue([&](Context& ctx) { fill(ctx, 1.0f, vector(0)); });
  const Ticket ticket = side->mark("late");
  StreamEvent* event = ticket.settled();
  ASSERT_NE(event, nullptr);
  EXPECT_FALSE(event->done());
  ticket.wait();
  EXPECT_TRUE(event->done());
}

TEST_F(CudaLane, ForksAndJoinsWhatIsRecorded) {
  const Tensor x = vector(0), y = vector(1), z = vector(2);
  const auto compute = compute_lane(gpu());
  const auto side = side_lane(gpu(), {.delay = {3, microseconds(1000)}});
  const auto work = make_recorded_work(gpu());
  Ticket recorded;
  for (int round = 0; round < 5; ++round) {
    const std::vector<float> values = all(static_cast<float>(round + 1));
    copy_from_host(gpu(), values.data(), x);
    const bool called = work->run("step", [&] {
      side->after(compute->mark("x"));
      side->issue([&](Context& ctx) { copy(ctx, x, y); });
      recorded = side->mark("y");
      compute->issue([&](Context& ctx) { fill(ctx, -1.0f, z); });
      compute->after(recorded);
      compute->issue([&](Context& ctx) { copy(ctx, y, z); });
    });
    EXPECT_EQ(called, round < 2);
    EXPECT_EQ(read(z), values) << "round " << round;
    if (round == 1) {  // the host cannot wait for what was recorded
      EXPECT_THROW(recorded.wait(), Error);
    }
  }
}

TEST_F(CudaLane, AFailureOfAWorkerReachesWhoComesAfterIt) {
  const auto compute = compute_lane(gpu());
  const auto worker = worker_lane(gpu());
  worker->issue([](Context&) { throw Error(ErrorCode::Comm, "rank 3 is gone"); });
  const Ticket ticket = worker->mark("gather");
  EXPECT_THROW(compute->after(ticket), Error);
  EXPECT_THROW(ticket.wait(), Error);
}

}  // namespace
}  // namespace ingot
