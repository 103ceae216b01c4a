// A rank that does not come is named, with where it is, on every rank.
#include "parallel/comm/deadlines.h"

#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <mutex>

#include "communicator_conformance.h"

namespace ingot::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;

LocalOptions with_collective(Timeout timeout) {
  LocalOptions options;
  options.deadlines.collective = timeout;
  return options;
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

std::string among(int ranks) {
  return " among " + text_of_ranks(first_ranks(ranks)) + " ";
}

// What each rank that waited failed with.
class Failures {
 public:
  explicit Failures(int ranks) : left_(ranks) {}

  // body(), which fails by a deadline; the failure goes on.
  template <class F>
  void expect(const F& body) {
    try {
      body();
    } catch (const Error& error) {
      {
        const std::scoped_lock lock(mutex_);
        all_.push_back(error);
      }
      left_.count_down();
      throw;
    }
    ADD_FAILURE() << "a rank went on";
    left_.count_down();
  }
  void wait() { left_.wait(); }

  // All name `rank` and hold these words.
  void name(size_t count, int rank, const std::vector<std::string>& words) const {
    EXPECT_EQ(all_.size(), count);
    for (const Error& error : all_) {
      EXPECT_EQ(error.code(), ErrorCode::Comm);
      EXPECT_EQ(error.rank(), rank) << error.what();
      for (const std::string& word : words) EXPECT_TRUE(has(error.what(), word)) << error.what();
    }
  }
  const std::vector<Error>& all() const { return all_; }

 private:
  std::latch left_;
  std::mutex mutex_;
  std::vector<Error> all_;
};

class DeadlineOf : public ::testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Ranks, DeadlineOf, ::testing::Values(2, 3, 5));

TEST_P(DeadlineOf, AMeetingNamesWhoIsMissingOnEveryRank) {
  const int ranks = GetParam(), late = ranks / 2;
  Failures failures(ranks - 1);
  EXPECT_THROW(run_local_ranks(
                   ranks, Device::cpu(),
                   [&](World& world) {
                     world.watch().at_step(6);
                     world.control().barrier("begin");
                     if (world.rank() == late) return failures.wait();
                     world.watch().at_step(7);
                     failures.expect([&] { world.control().barrier("end of a step"); });
                   },
                   with_collective(milliseconds(200))),
               Error);
  const std::string rank = "rank " + std::to_string(late);
  failures.name(static_cast<size_t>(ranks - 1), late,
                {"end of a step #2" + among(ranks) + "at step 7: ", "waited 0.2 s for " + rank,
                 "; " + rank + ": step 6, ", "s after begin #1" + among(ranks).substr(0, 7)});
}

// The missing one is in a meeting that the others do not come to: it is told that they gave it up.
TEST_P(DeadlineOf, ACollectiveNamesWhoIsMissingAndWhereItIs) {
  const int ranks = GetParam(), late = ranks - 1;
  Failures failures(ranks);
  ::testing::internal::CaptureStderr();
  const auto fails = [&] {
    run_local_ranks(
        ranks, Device::cpu(),
        [&](World& world) {
          CommRank rank(world);
          const Tensor tensor = rank.put(std::vector<float>(8, 1.0f));
          rank.comm().all_reduce(tensor, Reduce::Sum, rank.ready()).wait();
          world.watch().at_step(3);
          if (rank.rank() == late)
            return failures.expect([&] { world.control().barrier("save", minutes(5)); });
          failures.expect([&] { rank.comm().broadcast(tensor, 0, rank.ready()).wait(); });
        },
        with_collective(milliseconds(200)));
  };
  EXPECT_THROW(fails(), Error);
  const std::string log = ::testing::internal::GetCapturedStderr();
  const std::string rank = "rank " + std::to_string(late);
  failures.name(static_cast<size_t>(ranks), late,
                {"broadcast #2 from 0 of f32 (8) on cpu" + among(ranks) + "at step 3: ",
                 "waited 0.2 s for " + rank + "; " + rank + ": step 3, in save #1" + among(ranks)});
  size_t too_late = 0;
  for (const Error& error : failures.all())
    too_late += has(error.what(), "this rank came too late");
  EXPECT_EQ(too_late, 1u);
  // Every rank says once what it did last.
  for (int of = 0; of < ranks; ++of) {
    const std::string line = "rank_late rank=" + std::to_string(of) + " ";
    const size_t first = log.find(line);
    EXPECT_NE(first, std::string::npos) << log;
    EXPECT_EQ(log.find(line, first + 1), std::string::npos) << log;
  }
  EXPECT_TRUE(has(log, "all_reduce #1 (sum) of f32 (8) on cpu among 0,1")) << log;
}

TEST(Deadline, AMessageNamesItsSender) {
  Failures failures(1);
  EXPECT_THROW(run_local_ranks(
                   3, Device::cpu(),
                   [&](World& world) {
                     CommRank rank(world);
                     const Tensor tensor = rank.put(std::vector<float>(8));
                     if (rank.rank() != 0) return failures.wait();
                     failures.expect([&] { rank.comm().recv(tensor, 2, rank.ready()).wait(); });
                   },
                   with_collective(milliseconds(50))),
               Error);
  failures.name(1, 2, {"recv #1 from 2 of f32 (8) on cpu among 2,0 at step 0: waited 0."});
}

// Ranks 0 and 1 wait for rank 2 alone, which waits for rank 3.
TEST(Deadline, WhoIsReleasedByARankThatGaveUpNamesTheOneItWaitedFor) {
  Failures failures(3);
  EXPECT_THROW(run_local_ranks(
                   4, Device::cpu(),
                   [&](World& world) {
                     CommRank rank(world);
                     const Tensor tensor = rank.put(std::vector<float>(8));
                     if (world.rank() == 3) return failures.wait();
                     failures.expect([&] {
                       if (world.rank() < 2) return world.control().barrier("step", minutes(5));
                       const auto pair = world.communicator(std::vector<int>{2, 3}, rank.ctx());
                       pair->all_reduce(tensor, Reduce::Max, rank.ready()).wait();
                     });
                   },
                   with_collective(milliseconds(50))),
               Error);
  failures.name(3, 3, {"all_reduce #1 (max) of f32 (8) on cpu among 2,3 at step 0: waited 0."});
}

TEST(Deadline, TheRoundsOwnTimeoutCounts) {
  Failures failures(2);
  EXPECT_THROW(run_local_ranks(
                   4, Device::cpu(),
                   [&](World& world) {
                     if (world.rank() % 2 == 1) return failures.wait();
                     failures.expect([&] {
                       const Timeout own = world.rank() == 0 ? minutes(5) : milliseconds(20);
                       world.control().barrier("save", own);
                     });
                   },
                   with_collective(minutes(5))),
               Error);
  failures.name(2, 1, {"save #1 among 0,1,2,3 at step 0: ", "s for ranks 1,3; rank 1: step 0"});
}

TEST(Deadline, RanksAreWrittenAsRangesWhereTheyAreMany) {
  EXPECT_EQ(text_of_ranks(first_ranks(4)), "0,1,2,3");
  EXPECT_EQ(text_of_ranks(first_ranks(64)), "0-63");
  EXPECT_EQ(text_of_ranks(std::vector<int>{0, 1, 2, 4, 6, 7, 8, 9, 11}), "0-2,4,6-9,11");
}

}  // namespace
}  // namespace ingot::test
