// What ranks that are processes share besides tensors: meetings, a board of small facts, and the
// knowledge of who is gone.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "parallel/comm/board.h"
#include "parallel/comm/control.h"
#include "parallel/comm/deadlines.h"
#include "parallel/comm/process.h"
#include "parallel/comm/watch.h"

namespace ingot {

// What is known of a rank: its Watch::state() and how old that is.
struct RankState {
  std::string state;
  double age_seconds = 0.0;
};

// Thread-safe but for control(), which belongs to the rank's own thread. Ranks send each other a
// heartbeat every second or oftener; one that goes, breaks its connection or stays silent longer
// than Deadlines::silence is lost, and all others learn of it.
class HostPlane : public Board {
 public:
  virtual const Process& process() const = 0;
  virtual const Deadlines& deadlines() const = 0;
  virtual Watch& watch() = 0;
  virtual Control& control() = 0;
  // Names or addresses by which other ranks reach this machine, comma-separated.
  virtual std::string reachable_at() const = 0;

  // The same number for a name on every rank that asks, 1, 2, …
  virtual int64_t number_of(const std::string& name) = 0;

  // The first rank that is known to be lost, or of `needed` one that is done: it will not come to
  // whoever waits for it. Cheap: waits poll it. What such a rank sent before may still be under
  // way, so a wait gives up when it knows that nothing more comes, or when nothing came for long.
  virtual std::optional<LostRank> lost(std::span<const int> needed = {}) = 0;
  // Throws ErrorCode::Comm naming that rank and why, if there is one.
  void throw_if_lost(std::span<const int> needed = {});
  // Of every rank, as far as it is known here.
  virtual std::vector<RankState> states() = 0;

  // This rank waited for that one in vain: it is lost to all, and every rank logs what it did last.
  virtual void give_up_on(const LostRank& late) = 0;
  // That, for the first of `missing`; and throws waited_for() with what is known of all of them.
  [[noreturn]] void throw_late(Patience waited, std::span<const int> missing);

  // This rank takes no part from now on, and why: the others hear it and are released. Empty: it
  // is done, which is no failure once all others are: waits for them, and throws as
  // throw_if_lost(), also when it is this rank that another still waits for. `culprit`: the rank
  // that it is due to, where that is another one; `code`: what that one fails with.
  virtual void go(const std::string& why, int culprit = -1, ErrorCode code = ErrorCode::Comm) = 0;
};

std::string machine_name(const Process& process);  // process.host, or what the system says

// Ranks meet at process.rendezvous within deadlines().start; throws ErrorCode::Comm naming the
// ranks that did not come, ErrorCode::Config for a secret that is not the run's.
std::unique_ptr<HostPlane> tcp_host_plane(const Process& process, const Deadlines& deadlines,
                                          Watch& watch);

}  // namespace ingot
