#include "core/device/thread_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <numeric>
#include <stdexcept>
#include <thread>
#include <vector>

#include "core/error/error.h"

namespace ingot {
namespace {

TEST(ThreadPool, EveryTaskRunsOnceOnAValidWorker) {
  for (const int threads : {1, 2, 3, 8}) {
    ThreadPool pool(threads);
    EXPECT_EQ(pool.num_threads(), threads);
    for (const int64_t num_tasks : {0, 1, 2, 7, 1000}) {
      std::vector<int> runs(static_cast<size_t>(num_tasks), 0);  // tasks write disjoint elements
      std::atomic<bool> valid{true};
      pool.run(num_tasks, [&](int64_t task, int worker) {
        ++runs[static_cast<size_t>(task)];
        if (worker < 0 || worker >= threads) valid = false;
      });
      EXPECT_TRUE(valid);
      EXPECT_EQ(std::accumulate(runs.begin(), runs.end(), int64_t{0}), num_tasks);
      for (const int count : runs) EXPECT_EQ(count, 1);
    }
  }
}

TEST(ThreadPool, ManySmallLoopsSeeEachOthersWrites) {
  ThreadPool pool(4);
  std::vector<int64_t> values(16, 0);  // plain memory: the pool alone orders the accesses
  for (int loop = 0; loop < 20000; ++loop) {
    pool.run(16, [&](int64_t task, int) {
      const auto i = static_cast<size_t>(task);
      values[i] = values[i] + 1;
    });
    ASSERT_EQ(values[static_cast<size_t>(loop % 16)], loop + 1);
  }
}

TEST(ThreadPool, AWorkerIdIsHeldByOneThreadAtATime) {
  ThreadPool pool(4);
  std::vector<int64_t> per_worker(4, 0);  // plain memory again
  for (int loop = 0; loop < 500; ++loop) {
    pool.run(64, [&](int64_t, int worker) { ++per_worker[static_cast<size_t>(worker)]; });
  }
  EXPECT_EQ(std::accumulate(per_worker.begin(), per_worker.end(), int64_t{0}), 500 * 64);
}

TEST(ThreadPool, SleepingWorkersWakeUpAgain) {
  ThreadPool pool(2);
  std::atomic<int> inside{0};
  for (int loop = 0; loop < 20; ++loop) {
    inside = 0;
    // Each task waits for the other, so the loop ends only when the second worker has woken up.
    pool.run(2, [&](int64_t, int) {
      ++inside;
      while (inside.load() < 2) std::this_thread::yield();
    });
    for (int i = 0; i < 2000; ++i) std::this_thread::yield();  // long enough to fall asleep in
  }
  EXPECT_EQ(inside, 2);
}

TEST(ThreadPool, RunReturnsOnlyWhenTheLastTaskIsDone) {
  ThreadPool pool(2);
  for (int loop = 0; loop < 20; ++loop) {
    std::atomic<int> inside{0};
    std::atomic<bool> caller_done{false};
    std::atomic<bool> worker_done{false};
    pool.run(2, [&](int64_t, int worker) {
      ++inside;
      while (inside.load() < 2) std::this_thread::yield();
      if (worker == 0) {
        caller_done = true;
        return;
      }
      while (!caller_done.load()) std::this_thread::yield();
      // Long enough for the caller to come to the end, spin and fall asleep.
      for (int i = 0; i < 5000; ++i) std::this_thread::yield();
      worker_done = true;
    });
    ASSERT_TRUE(worker_done);
  }
}

TEST(ThreadPool, AnExceptionReachesTheCallerAndThePoolLivesOn) {
  for (const int threads : {1, 3}) {
    ThreadPool pool(threads);
    for (int64_t bad = 0; bad < 50; ++bad) {
      EXPECT_THROW(pool.run(50,
                            [&](int64_t task, int) {
                              if (task == bad) throw std::runtime_error("bad task");
                            }),
                   std::runtime_error);
      std::atomic<int> count{0};
      pool.run(50, [&](int64_t, int) { ++count; });
      EXPECT_EQ(count, 50);
    }
  }
}

TEST(ThreadPool, WhenEveryTaskThrowsOneExceptionArrives) {
  ThreadPool pool(4);
  for (int loop = 0; loop < 200; ++loop) {
    EXPECT_THROW(pool.run(100, [](int64_t, int) { throw Error(ErrorCode::Numeric, "nan"); }),
                 Error);
  }
}

TEST(ThreadPool, ALoopInsideALoopIsRefused) {
  ThreadPool pool(2);
  EXPECT_THROW(pool.run(4, [&](int64_t, int) { pool.run(4, [](int64_t, int) {}); }), Error);
}

TEST(ThreadPool, SeveralPoolsInOneProcessDoNotDisturbEachOther) {
  constexpr int kRanks = 4;
  std::vector<int64_t> sums(kRanks, 0);
  std::vector<std::thread> ranks;
  for (int rank = 0; rank < kRanks; ++rank) {
    ranks.emplace_back([&sums, rank] {
      ThreadPool pool(3);
      std::vector<int64_t> parts(10);
      for (int loop = 0; loop < 500; ++loop) {
        pool.run(10, [&](int64_t task, int) { parts[static_cast<size_t>(task)] = task * rank; });
        sums[static_cast<size_t>(rank)] += std::accumulate(parts.begin(), parts.end(), int64_t{0});
      }
    });
  }
  for (std::thread& rank : ranks) rank.join();
  for (int rank = 0; rank < kRanks; ++rank) {
    EXPECT_EQ(sums[static_cast<size_t>(rank)], 500 * 45 * rank);
  }
}

TEST(ThreadPool, CreationAndDestructionWithoutWorkIsClean) {
  for (int i = 0; i < 100; ++i) ThreadPool pool(4);
}

TEST(ThreadPool, RefusesImpossibleThreadCounts) {
  EXPECT_THROW(ThreadPool(0), Error);
  EXPECT_THROW(ThreadPool(100000), Error);
  EXPECT_GE(available_cores(), 1);
}

TEST(ThreadPool, DenormalsAreZeroInsideTasksAndKeptOutside) {
  volatile float tiny = 1e-30f;
  for (const int threads : {1, 3}) {
    ThreadPool pool(threads);
    std::atomic<int> nonzero{0};
    pool.run(64, [&](int64_t, int) {
      if (tiny * 1e-10f != 0.0f) ++nonzero;
    });
    EXPECT_EQ(nonzero, 0);
    EXPECT_NE(tiny * 1e-10f, 0.0f);
  }
}

}  // namespace
}  // namespace ingot
