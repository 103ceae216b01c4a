// The communication that a rank has in flight, and its last calls, so that a hanging run can say
// where it hangs.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "core/error/error.h"

namespace ingot {

// For one rank. Thread-safe: lanes record their calls, the host plane reads the state.
class Watch {
 public:
  void at_step(int64_t step);  // completed so far
  int64_t step() const;

  // This rank joins a collective or a host-plane round. `what` names it such that ranks can be
  // compared: "all_gather #12 of bf16 (512) among 0,1,2,3".
  int64_t begin(std::string what);
  void end(int64_t number);

  // One line for other ranks: "step 7, in all_gather #12 … for 3.2 s".
  std::string state() const;
  // The last calls and rounds, oldest first, one line each.
  std::vector<std::string> last_records() const;

 private:
  using Clock = std::chrono::steady_clock;
  struct Entry {
    int64_t number = 0;
    int64_t step = 0;
    std::string what;
    Clock::time_point begun, ended;
    bool is_over = false;
  };

  mutable std::mutex mutex_;
  int64_t step_ = 0;
  int64_t count_ = 0;
  std::deque<Entry> entries_;  // in flight, and the last finished ones; by number
};

// Records a call or a round as in flight while it lives.
class Watched {
 public:
  Watched(Watch& watch, std::string what) : watch_(watch), number_(watch.begin(std::move(what))) {}
  ~Watched() { watch_.end(number_); }
  Watched(const Watched&) = delete;
  Watched& operator=(const Watched&) = delete;

 private:
  Watch& watch_;
  int64_t number_;
};

// A rank that no longer takes part.
struct LostRank {
  int rank = -1;
  std::string why;  // its own reason, or how it was missed
  // The error code it reported; Comm if it was only missed.
  ErrorCode code = ErrorCode::Comm;
};
// Whether the rank did not fail but rejected the run's settings.
bool is_refusal(ErrorCode code);
// An error with that rank: "rank 2 is lost: WHY", ErrorCode::Comm; for a refusal "rank 2 refuses
// the run: WHY", with that rank's error code.
Error lost_error(const LostRank& lost);

// A rank that others wait for, and its current Watch::state().
struct MissingRank {
  int rank = -1;
  std::string state;
};

// «waited 60.0 s for ranks 2,3; rank 2: step 6, in …; rank 3: …»: ErrorCode::Comm with the first of
// them as rank. Error::during() adds the work.
Error waited_for(std::chrono::duration<double> time, std::span<const MissingRank> missing);

// "0,1,2,3"; for more than eight ranks consecutive ones as "0-63".
std::string text_of_ranks(std::span<const int> ranks);

}  // namespace ingot
