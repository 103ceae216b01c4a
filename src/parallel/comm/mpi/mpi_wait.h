// Waits for MPI with sleeps: MPI itself only polls.
#pragma once

#include <algorithm>
#include <chrono>
#include <thread>

namespace ingot {

// A pause between polls. Ranks may outnumber cores, so a waiting rank soon yields its core, and
// sleeps longer the longer nothing happens.
class MpiPause {
 public:
  void rest() {
    if (++looks_ <= kBusyLooks) return std::this_thread::yield();
    std::this_thread::sleep_for(sleep_);
    sleep_ = std::min(sleep_ * 2, kLongest);
  }
  void something_came() { *this = {}; }

 private:
  static constexpr int kBusyLooks = 200;  // some 20 µs; a small message between cores takes 1 µs
  static constexpr std::chrono::microseconds kLongest{1000};
  int looks_ = 0;
  std::chrono::microseconds sleep_{10};
};

}  // namespace ingot
