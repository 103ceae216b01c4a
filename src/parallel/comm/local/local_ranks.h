// What the ranks of one process share, and their communicator.
#pragma once

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "core/async/lane.h"
#include "parallel/comm/board.h"
#include "parallel/comm/deadlines.h"
#include "parallel/comm/local/local_group.h"
#include "parallel/comm/local/meeting_point.h"
#include "parallel/comm/watch.h"

namespace ingot {

// The groups of a run, by name: whoever asks first makes one. Thread-safe.
class LocalRanks final : public Board {
 public:
  LocalRanks(int ranks, const Deadlines& deadlines);

  int size() const { return hall_.size(); }
  const Deadlines& deadlines() const { return deadlines_; }
  Watch& watch(int rank) { return places_[static_cast<size_t>(rank)].watch; }
  std::shared_ptr<LocalGroup> group(const std::string& name, const std::vector<int>& ranks);

  // MeetingPoint::arrive of a member that comes to `what`. When its patience ends the first missing
  // rank is lost to all, and every rank that waits, or comes later, fails naming it; each logs what
  // it did last.
  void arrive(MeetingPoint& point, int member, const std::string& what, Patience patience);
  // This rank takes no part in anything from now on, and whoever waits for it is released. It is
  // done, or failed; `cause`: the rank that it is due to, itself or one that it was released from.
  void leave(int rank);
  void lose(int rank, const LostRank& cause);
  std::optional<LostRank> loss();  // the first cause

  // The host plane: every rank's text at a meeting of all.
  std::vector<std::string> gather(int rank, std::string_view what, std::string_view own,
                                  Patience patience);

  void post(const std::string& key, const std::string& value) override;
  std::string await(const std::string& key, Patience patience) override;

 private:
  struct Place {
    Watch watch;
    std::string what, text;    // brought to a meeting, written before it arrives
    int64_t num_meetings = 0;  // of the host plane
    std::once_flag told;       // its last records
  };
  struct Leaving {
    int rank;
    LostRank cause;
  };
  void go(int rank, const LostRank& cause);  // with the mutex held
  void tell_records(int rank, const Error& why);

  const Deadlines deadlines_;
  MeetingPoint hall_;
  const std::string everyone_;  // ranks, for messages
  std::vector<Place> places_;   // by rank

  std::mutex mutex_;
  bool is_late_ = false;  // a rank was given up
  std::optional<LostRank> loss_;
  std::map<std::string, std::shared_ptr<LocalGroup>> groups_;
  std::vector<Leaving> gone_;
  std::map<std::string, std::string> posted_;  // the board
  std::condition_variable changed_;            // the board, or who is gone
};

// Of the rank that is `ranks[member]`. `name` tells communicators of the same ranks apart.
std::unique_ptr<Communicator> local_communicator(LocalRanks& all, const std::string& name,
                                                 std::vector<int> ranks, int member,
                                                 const Context& compute, const LaneDelay& delay);

}  // namespace ingot
