// Shared state of ranks that are processes: host-plane rounds, the key-value board, and lost ranks.
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

// The last known Watch::state() of a rank, and its age.
struct RankState {
  std::string state;
  double age_seconds = 0.0;
};

// Thread-safe, except for control(), which belongs to the rank's own thread. Ranks send each other
// a heartbeat at least every second. A rank that exits, loses its connection or is silent for
// longer than Deadlines::silence is lost, and all others are told.
class HostPlane : public Board {
 public:
  virtual const Process& process() const = 0;
  virtual const Deadlines& deadlines() const = 0;
  virtual Watch& watch() = 0;
  virtual Control& control() = 0;
  // Names or addresses at which other ranks reach this machine, comma-separated.
  virtual std::string reachable_at() const = 0;

  // Assigns a number to a name, equal on every rank that asks: 1, 2, …
  virtual int64_t number_of(const std::string& name) = 0;

  // The first rank known to be lost, or the first of `needed` that is done and so will not join a
  // wait. Cheap: waits poll it. Earlier messages of such a rank may still be in flight, so a wait
  // fails only when nothing more can come, or when nothing has come for long.
  virtual std::optional<LostRank> lost(std::span<const int> needed = {}) = 0;
  // Throws ErrorCode::Comm with that rank and the reason, if there is one.
  void throw_if_lost(std::span<const int> needed = {});
  // The last known state of every rank.
  virtual std::vector<RankState> states() = 0;

  // Declares a rank lost after waiting for it in vain: all ranks are told, and every rank logs its
  // last calls.
  virtual void declare_lost(const LostRank& late) = 0;
  // Calls declare_lost() for the first of `missing`; throws waited_for() with the known states of
  // all of them.
  [[noreturn]] void throw_late(Timeout waited, std::span<const int> missing);

  // This rank stops taking part, for the reason `why`; the other ranks are told and released. Empty
  // `why`: it is done, which is no failure if all others finish too: waits for them, and throws
  // like throw_if_lost(), also if another rank still waits for this one. `culprit`: the rank that
  // caused it, if another; `code`: the error code of that rank.
  virtual void go(const std::string& why, int culprit = -1, ErrorCode code = ErrorCode::Comm) = 0;
};

std::string machine_name(const Process& process);  // process.host, or else the system's host name

// Connects at process.rendezvous within deadlines().start. Throws ErrorCode::Comm with the ranks
// that did not connect, or ErrorCode::Config for a wrong secret.
std::unique_ptr<HostPlane> tcp_host_plane(const Process& process, const Deadlines& deadlines,
                                          Watch& watch);

}  // namespace ingot
