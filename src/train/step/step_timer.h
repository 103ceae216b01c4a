// How one rank spends its steps, by its host's clock.
#pragma once

#include <chrono>
#include <span>

#include "ledger/records/run_records.h"

namespace ingot {

// How one rank spent a step, by its host's clock.
struct RankTime {
  double seconds = 0.0;  // from the end of the last step to the end of this one
  double waits = 0.0;    // of these, waits for other ranks and for the device
  double tickets = 0.0;  // of the waits, those for collectives on a CPU
  double data = 0.0;     // waits for samples
};

// The times of several ranks for a step's record: by rank, or the extremes of more than 64.
StepRanks ranks_of_step(std::span<const RankTime> ranks);
double mean_of(std::span<const RankTime> ranks, double RankTime::*which);

// Times the thread that calls it, the one that computes. A step calls begin(), so_far(), agreed(),
// end(), in this order. Time between end() and the next begin() is not counted.
class StepTimer {
 public:
  void begin();
  // Calls work() and counts its time as a wait for the device.
  template <class F>
  auto waiting(const F& work) {
    const Spent before = now();
    auto result = work();
    const Spent after = now();
    // Waits for tickets inside it are counted already.
    device_wait_ += (after.time - before.time) - (after.waits - before.waits);
    return result;
  }
  // Calls work() and counts its time as a wait for samples.
  template <class F>
  decltype(auto) reading(const F& work) {
    const Clock::time_point before = Clock::now();
    decltype(auto) result = work();
    data_ += Clock::now() - before;
    return result;
  }
  // Since the last agreed(): the end of that step, and this step.
  RankTime so_far() const;
  void agreed();  // the ranks have agreed on the end of the step
  double step_seconds() const;
  void end();

 private:
  using Clock = std::chrono::steady_clock;
  struct Spent {
    Clock::time_point time;
    Clock::duration waits;  // for tickets
  };
  static Spent now();

  Spent begun_ = {}, agreed_ = {};
  Clock::duration device_wait_{0}, data_{0};
  Clock::duration tail_{0}, tail_waits_{0};  // of the last step, after agreed()
};

}  // namespace ingot
