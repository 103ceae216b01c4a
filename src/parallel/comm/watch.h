// What one rank is in the middle of with the others, and what it did last, so that a run which
// stops can say where.
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

// One rank's. Thread-safe: lanes note their calls, the host plane reads the state.
class Watch {
 public:
  void at_step(int64_t step);  // completed so far
  int64_t step() const;

  // This rank joins something that others join too: a collective of a group, a meeting. `what`
  // names it so that ranks can be compared: "all_gather #12 of bf16 (512) among 0,1,2,3".
  int64_t begin(std::string what);
  void end(int64_t number);

  // One line for the others: "step 7, in all_gather #12 … for 3.2 s".
  std::string state() const;
  // The last calls and meetings, the oldest first, one line each.
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
  std::deque<Entry> entries_;  // in flight, and the last that are over; by number
};

// While it lives, a call or a meeting is noted as in flight.
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

// A rank that takes no part any more.
struct LostRank {
  int rank = -1;
  std::string why;  // what it said when it went, or how it was missed
  // What it failed with, where it said so itself; Comm where it only was missed.
  ErrorCode code = ErrorCode::Comm;
};
// Whether the rank did not fail but refused the settings of the run.
bool is_refusal(ErrorCode code);
// On that rank: "rank 2 is lost: WHY", ErrorCode::Comm; of a refusal "rank 2 refuses the run: WHY",
// with the code that it has there.
Error lost_error(const LostRank& lost);

// A rank that others wait for, and where it is instead: its Watch::state().
struct MissingRank {
  int rank = -1;
  std::string state;
};

// «waited 60.0 s for ranks 2,3; rank 2: step 6, in …; rank 3: …»: ErrorCode::Comm on the first of
// them. Error::during() says in what.
Error waited_for(std::chrono::duration<double> time, std::span<const MissingRank> missing);

// "0,1,2,3"; of more than eight what follows each other as "0-63".
std::string text_of_ranks(std::span<const int> ranks);

}  // namespace ingot
