// What the ranks of one process share, and their communicator.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "core/lane.h"
#include "parallel/comm/local_group.h"
#include "parallel/comm/meeting_point.h"

namespace ingot {

// The groups of a run, by name: whoever asks first makes one. Thread-safe.
class LocalRanks {
 public:
  explicit LocalRanks(int ranks);

  int size() const { return hall_.size(); }
  std::shared_ptr<LocalGroup> group(const std::string& name, const std::vector<int>& ranks);
  // This rank takes no part in anything from now on, and why; whoever waits for it is released.
  void go(int rank, const std::string& why);

  // The host plane: every rank's text at a meeting of all.
  std::vector<std::string> gather(int rank, std::string_view what, std::string_view own,
                                  Patience patience);

 private:
  struct Word {
    std::string what, text;
  };
  MeetingPoint hall_;
  std::vector<Word> words_;  // by rank; each writes its own before it arrives

  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<LocalGroup>> groups_;
  std::vector<std::pair<int, std::string>> gone_;
};

// Of the rank that is `ranks[member]`. `name` tells communicators of the same ranks apart.
std::unique_ptr<Communicator> local_communicator(LocalRanks& all, const std::string& name,
                                                 std::vector<int> ranks, int member,
                                                 const Context& compute, const LaneDelay& delay);

}  // namespace ingot
