// What one rank spends on its steps, by its own clock.
#pragma once

#include <chrono>
#include <span>

#include "ledger/records/run_records.h"

namespace ingot {

// How one rank spent a step, by its host's clock.
struct RankTime {
  double seconds = 0.0;  // from the meeting that ended the last step to the one that ends this
  double waits = 0.0;    // of those, for others and for the device
  double tickets = 0.0;  // of the waits, those for tickets: collectives of a CPU
  double data = 0.0;     // for samples
};

// Of several ranks, as the record of a step has them: by rank, of more than 64 the extremes.
StepRanks ranks_of_step(std::span<const RankTime> ranks);
double mean_of(std::span<const RankTime> ranks, double RankTime::*which);

// Of the thread that calls it, which is the one that computes. A step is begin(), so_far(), met(),
// end(), in this order; what lies between end() and the next begin() counts as nobody's.
class StepTimer {
 public:
  void begin();
  // work(), which waits for the device.
  template <class F>
  auto waiting(const F& work) {
    const Spent before = now();
    auto result = work();
    const Spent after = now();
    // Waits for tickets in it are counted already.
    device_wait_ += (after.time - before.time) - (after.waits - before.waits);
    return result;
  }
  // work(), which waits for samples.
  template <class F>
  decltype(auto) reading(const F& work) {
    const Clock::time_point before = Clock::now();
    decltype(auto) result = work();
    data_ += Clock::now() - before;
    return result;
  }
  // Since the last meeting: what followed it, and this step.
  RankTime so_far() const;
  void met();  // the meeting that ends the step is over
  double step_seconds() const;
  void end();

 private:
  using Clock = std::chrono::steady_clock;
  struct Spent {
    Clock::time_point time;
    Clock::duration waits;  // for tickets
  };
  static Spent now();

  Spent begun_ = {}, met_ = {};
  Clock::duration device_wait_{0}, data_{0};
  Clock::duration tail_{0}, tail_waits_{0};  // of the last step, after its meeting
};

}  // namespace ingot
