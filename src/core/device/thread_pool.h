// A fixed set of worker threads that runs one parallel loop at a time.
#pragma once

#include <cstdint>
#include <memory>

namespace ingot {

// A reference to a callable (no allocation, unlike std::function). The callable must outlive the
// call it is passed to.
class TaskRef {
 public:
  template <class F>
  TaskRef(const F& f)  // NOLINT: implicit on purpose, so that lambdas pass directly
      : object_(&f), call_([](const void* o, int64_t task, int worker) {
          (*static_cast<const F*>(o))(task, worker);
        }) {}
  void operator()(int64_t task, int worker) const { call_(object_, task, worker); }

 private:
  const void* object_;
  void (*call_)(const void*, int64_t, int);
};

// Idle threads spin briefly and then sleep: a training step's thousand small loops pay no wake-up
// each, and an idle process costs nothing.
class ThreadPool {
 public:
  explicit ThreadPool(int num_threads);  // the caller is worker 0; starts num_threads - 1 threads
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int num_threads() const;

  // Calls task(i, worker) once for every i in [0, num_tasks), in any order, worker in [0,
  // num_threads). Returns when all calls are done and rethrows the first exception. Call it from
  // one thread at a time and never from inside a task. Which worker runs a task is not determined:
  // results must depend on i alone. Inside a task denormal floats count as zero (FlushDenormals).
  void run(int64_t num_tasks, TaskRef task);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Cores this process may run on (the affinity mask, not the machine).
int available_cores();

}  // namespace ingot
