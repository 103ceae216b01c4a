#include "core/async/lane.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <numeric>
#include <thread>
#include <vector>

#include "core/error/error.h"

namespace ingot {
namespace {

using std::chrono::microseconds;

// Lanes of the CPU, made as a rank makes them.
struct Lanes {
  ThreadPool pool{1};
  Context ctx{.device = Device::cpu(), .pool = &pool, .workspace = {}};

  std::unique_ptr<Lane> worker(uint64_t seed = 0, int most = 0) {
    return worker_lane(ctx, {.delay = {seed, microseconds(most)}});
  }
};

std::string failure_of(const Ticket& ticket) {
  try {
    ticket.wait();
  } catch (const Error& error) {
    return error.what();
  }
  return "none";
}

TEST(Ticket, OfNothingIsDone) {
  const Ticket none;
  EXPECT_EQ(none.settled(), nullptr);
  none.wait();
}

TEST(ComputeLane, OfTheCpuRunsAtOnceOnTheCallerAndThrowsThere) {
  Lanes lanes;
  const auto compute = compute_lane(lanes.ctx);
  EXPECT_EQ(&compute->context(), &lanes.ctx);
  std::thread::id ran;
  compute->issue([&](Context&) { ran = std::this_thread::get_id(); });
  EXPECT_EQ(ran, std::this_thread::get_id());
  EXPECT_EQ(compute->mark("step").settled(), nullptr);
  EXPECT_THROW(compute->issue([](Context&) { throw Error(ErrorCode::Data, "x"); }), Error);
}

TEST(ComputeLane, WaitsForTheTicketItIsPutBehind) {
  Lanes lanes;
  const auto compute = compute_lane(lanes.ctx);
  const auto side = lanes.worker(1, 3000);
  for (int round = 0; round < 20; ++round) {
    int value = 0;
    side->issue([&](Context&) { value = round; });
    compute->after(side->mark("value"));
    EXPECT_EQ(value, round);
  }
}

TEST(WorkerLane, CarriesWorkOutInOrderWhateverTheDelay) {
  Lanes lanes;
  const auto side = lanes.worker(2, 300);
  std::vector<int> seen;
  for (int i = 0; i < 100; ++i) side->issue([&seen, i](Context&) { seen.push_back(i); });
  side->mark("all").wait();
  std::vector<int> expected(100);
  std::iota(expected.begin(), expected.end(), 0);
  EXPECT_EQ(seen, expected);
}

TEST(WorkerLane, ATicketIsWaitedForUntilItsWorkIsDone) {
  Lanes lanes;
  const auto side = lanes.worker();
  std::promise<void> go;
  bool ran = false;
  side->issue([&](Context&) {
    go.get_future().wait();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    ran = true;
  });
  const Ticket held = side->mark("held");
  go.set_value();
  held.wait();
  EXPECT_TRUE(ran);
}

// Two lanes write the same numbers in turn; only tickets keep them from racing.
TEST(WorkerLane, LanesThatTakeTurnsByTicketsSeeEachOthersWork) {
  Lanes lanes;
  for (uint64_t seed = 0; seed < 5; ++seed) {
    const auto a = lanes.worker(2 * seed + 10, 200), b = lanes.worker(2 * seed + 11, 200);
    int64_t value = 0, expected = 0;
    Ticket last;
    for (int i = 0; i < 30; ++i) {
      Lane& lane = i % 2 == 0 ? *a : *b;
      lane.after(last);
      lane.issue([&value, i](Context&) { value = value * 3 % 1000003 + i; });
      last = lane.mark("turn");
      expected = expected * 3 % 1000003 + i;
    }
    last.wait();
    EXPECT_EQ(value, expected);
  }
}

TEST(WorkerLane, AFailureIsNamedAndCarriedByEveryLaterTicketAndLane) {
  Lanes lanes;
  const auto first = lanes.worker(), second = lanes.worker();
  first->issue([](Context&) {});
  const Ticket before = first->mark("before");
  first->issue([](Context&) { throw Error(ErrorCode::Data, "page 7 is damaged").on_rank(3); });
  const Ticket failed = first->mark("reading");
  bool ran = false;
  first->issue([&](Context&) { ran = true; });
  const Ticket later = first->mark("later");
  second->after(failed);
  second->issue([&](Context&) { ran = true; });
  const Ticket follower = second->mark("using");

  before.wait();
  EXPECT_EQ(failure_of(failed), "reading: page 7 is damaged");
  EXPECT_EQ(failure_of(later), "reading: page 7 is damaged");
  EXPECT_EQ(failure_of(follower), "using: reading: page 7 is damaged");
  EXPECT_FALSE(ran);
  try {
    follower.wait();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::Data);
    EXPECT_EQ(error.rank(), 3);
    EXPECT_NE(error.place().find("lane_test.cpp"), std::string::npos) << error.place();
  }
}

TEST(WorkerLane, EndsWhenItsWorkIsDone) {
  Lanes lanes;
  int done = 0;
  {
    const auto side = lanes.worker(5, 500);
    for (int i = 0; i < 10; ++i) side->issue([&](Context&) { ++done; });
  }
  EXPECT_EQ(done, 10);
}

TEST(WorkerLane, HasAPoolOfItsOwnAndNoWorkspace) {
  Lanes lanes;
  const auto side = side_lane(lanes.ctx, {.threads = 2});
  EXPECT_NE(side->context().pool, &lanes.pool);
  EXPECT_EQ(side->context().pool->num_threads(), 2);
  EXPECT_EQ(side->context().workspace.bytes(), 0);
  EXPECT_EQ(worker_lane(lanes.ctx, {.threads = 0})->context().pool, nullptr);
  std::atomic<int> tasks = 0;
  side->issue([&](Context& ctx) { ctx.pool->run(8, [&](int64_t, int) { ++tasks; }); });
  side->mark("loop").wait();
  EXPECT_EQ(tasks, 8);
}

}  // namespace
}  // namespace ingot
