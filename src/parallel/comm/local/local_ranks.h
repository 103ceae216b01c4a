// Shared state of the ranks of one process, and their communicator.
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
#include "parallel/comm/local/rank_barrier.h"
#include "parallel/comm/watch.h"

namespace ingot {

// The groups of a run, by name: the first rank to ask creates one. Thread-safe.
class LocalRanks final : public Board {
 public:
  LocalRanks(int ranks, const Deadlines& deadlines);

  int size() const { return hall_.size(); }
  const Deadlines& deadlines() const { return deadlines_; }
  Watch& watch(int rank) { return places_[static_cast<size_t>(rank)].watch; }
  std::shared_ptr<LocalGroup> group(const std::string& name, const std::vector<int>& ranks);

  // RankBarrier::arrive for a member that joins `what`. At a timeout the first missing rank is
  // lost for all: every rank that waits, or joins later, fails naming it, and each logs its last
  // calls.
  void arrive(RankBarrier& point, int member, const std::string& what, Timeout timeout);
  // This rank stops taking part, and ranks that wait for it are released. It is done, or failed;
  // `cause`: the rank responsible, itself or one whose loss released it.
  void leave(int rank);
  void lose(int rank, const LostRank& cause);
  std::optional<LostRank> loss();  // the first cause

  // The host plane: all-gather of every rank's text.
  std::vector<std::string> gather(int rank, std::string_view what, std::string_view own,
                                  Timeout timeout);

  void post(const std::string& key, const std::string& value) override;
  std::string await(const std::string& key, Timeout timeout) override;

 private:
  struct Place {
    Watch watch;
    std::string what, text;  // its contribution to a round, written before arrive()
    int64_t num_rounds = 0;  // host-plane rounds so far
    std::once_flag told;     // logs its last records
  };
  struct Leaving {
    int rank;
    LostRank cause;
  };
  void go(int rank, const LostRank& cause);  // with the mutex held
  void tell_records(int rank, const Error& why);

  const Deadlines deadlines_;
  RankBarrier hall_;
  const std::string everyone_;  // ranks, for messages
  std::vector<Place> places_;   // by rank

  std::mutex mutex_;
  bool is_late_ = false;  // a rank was declared lost after a timeout
  std::optional<LostRank> loss_;
  std::map<std::string, std::shared_ptr<LocalGroup>> groups_;
  std::vector<Leaving> gone_;
  std::map<std::string, std::string> posted_;  // the board
  std::condition_variable changed_;            // for the board and lost ranks
};

// For rank `ranks[member]`. `name` distinguishes communicators of the same ranks.
std::unique_ptr<Communicator> local_communicator(LocalRanks& all, const std::string& name,
                                                 std::vector<int> ranks, int member,
                                                 const Context& compute, const LaneDelay& delay);

}  // namespace ingot
