#include "core/device/thread_pool.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "core/device/flush_denormals.h"
#include "core/error/error.h"

namespace ingot {
namespace {

// Longer than the gaps of a training step: with 40 µs a step of a tiny model put the workers to
// sleep 30 times (5,015 context switches in 150 steps, 563 with this), and an idle process is
// asleep all the same.
constexpr std::chrono::microseconds kSpin{400};
constexpr int kPausesPerClockRead = 16;  // reading the clock costs about as much as a pause
constexpr int kYieldsWhenCrowded = 4;

// Threads of all pools of the process: ranks that run as threads have a pool each.
std::atomic<int> pool_threads{0};

void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#else
  std::this_thread::yield();
#endif
}

// Waits briefly for `ready`; false when the caller had better sleep. With more threads than cores
// a spinning thread takes the core from the one it waits for, so it yields instead.
template <class Ready>
bool spin_until(const Ready& ready, int cores) {
  if (ready()) return true;
  if (pool_threads.load(std::memory_order_relaxed) > cores) {
    for (int i = 0; i < kYieldsWhenCrowded; ++i) {
      std::this_thread::yield();
      if (ready()) return true;
    }
    return false;
  }
  const auto deadline = std::chrono::steady_clock::now() + kSpin;
  do {
    for (int i = 0; i < kPausesPerClockRead; ++i) {
      if (ready()) return true;
      pause();
    }
  } while (std::chrono::steady_clock::now() < deadline);
  return ready();
}

// The gate word: how many workers are inside the loop, whether it is open, which loop it is.
// 32 bits, so that waiting on it is a futex call without a proxy. The generation may wrap: a worker
// that slept through all of it only misses one loop, which nobody waits for.
constexpr uint32_t kInside = 0x3ff;
constexpr uint32_t kOpen = 0x400;
constexpr uint32_t kGeneration = 0x800;

}  // namespace

// A loop is opened by publishing the task and then the gate. A worker enters by compare-exchange on
// the whole gate word, so that it enters an open loop or none. The caller closes the gate when no
// task is left and waits only for workers that are inside: one that slept through a short loop
// costs nothing.
struct ThreadPool::State {
  explicit State(int threads)
      : num_threads(threads), cores(available_cores()), shares(static_cast<size_t>(threads)) {}

  // Tasks [next, end) that one worker takes first. A worker that is done helps the others. Equal
  // loops over equal data therefore meet the same worker, whose cache holds what it wrote in the
  // last one.
  struct alignas(64) Share {
    std::atomic<int64_t> next{0};
    int64_t end = 0;
  };

  const int num_threads;
  const int cores;
  std::vector<Share> shares;  // by worker
  std::vector<std::thread> workers;

  const TaskRef* task = nullptr;
  std::mutex failure_mutex;
  std::exception_ptr failure;

  alignas(64) std::atomic<uint32_t> gate{0};
  alignas(64) std::atomic<uint32_t> left{0};  // counts loops whose last worker left after closing
  alignas(64) std::atomic<bool> stop{false};

  void deal(int64_t num_tasks) {
    for (int i = 0; i < num_threads; ++i) {
      Share& share = shares[static_cast<size_t>(i)];
      share.next.store(num_tasks * i / num_threads, std::memory_order_relaxed);
      share.end = num_tasks * (i + 1) / num_threads;
    }
  }

  void work(int worker) {
    for (int i = 0; i < num_threads; ++i)
      work_on(shares[static_cast<size_t>((worker + i) % num_threads)], worker);
  }

  void work_on(Share& share, int worker) {
    for (;;) {
      const int64_t i = share.next.fetch_add(1, std::memory_order_relaxed);
      if (i >= share.end) return;
      try {
        (*task)(i, worker);
      } catch (...) {
        const std::lock_guard lock(failure_mutex);
        if (!failure) failure = std::current_exception();
        // The rest is not worth starting.
        for (Share& other : shares) other.next.store(other.end, std::memory_order_relaxed);
      }
    }
  }

  void serve(int worker) {
    const FlushDenormals flush;
    uint32_t served = 0;  // loops count from 1
    for (;;) {
      uint32_t seen = gate.load();
      const auto open = [&] {
        seen = gate.load();
        return stop.load() || ((seen & kOpen) != 0 && seen / kGeneration != served);
      };
      if (!spin_until(open, cores) && !open()) {
        gate.wait(seen);
        continue;
      }
      if (stop.load()) return;
      if (!gate.compare_exchange_strong(seen, seen + 1)) continue;
      served = seen / kGeneration;
      work(worker);
      if (((gate.fetch_sub(1) - 1) & (kInside | kOpen)) == 0) {
        left.fetch_add(1);
        left.notify_one();
      }
    }
  }

  void wait_until_left() {
    const auto empty = [this] { return (gate.load() & kInside) == 0; };
    while (!spin_until(empty, cores)) {
      const uint32_t before = left.load();
      if (!empty()) left.wait(before);
    }
  }
};

ThreadPool::ThreadPool(int num_threads) {
  check(num_threads >= 1 && num_threads < static_cast<int>(kInside), ErrorCode::Config,
        "wrong number of threads: expected 1 to {}, got {}", kInside - 1, num_threads);
  state_ = std::make_unique<State>(num_threads);
  pool_threads.fetch_add(num_threads);
  for (int worker = 1; worker < num_threads; ++worker) {
    state_->workers.emplace_back([state = state_.get(), worker] { state->serve(worker); });
  }
}

ThreadPool::~ThreadPool() {
  state_->stop.store(true);
  state_->gate.fetch_add(kGeneration);  // a changed word releases the sleepers
  state_->gate.notify_all();
  for (std::thread& worker : state_->workers) worker.join();
  pool_threads.fetch_sub(state_->num_threads);
}

int ThreadPool::num_threads() const {
  return state_->num_threads;
}

void ThreadPool::run(int64_t num_tasks, TaskRef task) {
  const FlushDenormals flush;
  State& s = *state_;
  if (s.workers.empty() || num_tasks <= 1) {
    for (int64_t i = 0; i < num_tasks; ++i) task(i, 0);
    return;
  }
  const uint32_t before = s.gate.load();
  check((before & kOpen) == 0, ErrorCode::Internal,
        "a parallel loop was started inside another one of the same pool");
  s.task = &task;
  s.deal(num_tasks);
  s.gate.store(before + kGeneration + kOpen);
  s.gate.notify_all();
  s.work(0);
  s.gate.fetch_and(~kOpen);
  s.wait_until_left();
  if (s.failure) std::rethrow_exception(std::exchange(s.failure, nullptr));
}

int available_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  // The call fails only where the machine has more cores than the set has bits.
  if (sched_getaffinity(0, sizeof(set), &set) != 0) {
    return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  }
  return std::max(1, CPU_COUNT(&set));
}

}  // namespace ingot
