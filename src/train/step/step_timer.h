// What one rank spends on its steps, by its own clock.
#pragma once

#include <chrono>

#include "train/records/record.h"

namespace ingot {

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
  Clock::duration device_wait_{0};
  Clock::duration tail_{0}, tail_waits_{0};  // of the last step, after its meeting
};

}  // namespace ingot
