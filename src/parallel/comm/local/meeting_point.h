// Where threads that are ranks meet, again and again.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "parallel/comm/control.h"
#include "parallel/comm/watch.h"

namespace ingot {

// A meeting begins when all members have arrived and ends when all have parted. What a member wrote
// before it arrived the others may read until they part; what it wrote before it parted they may
// read until they arrive again.
class MeetingPoint {
 public:
  explicit MeetingPoint(std::vector<int> ranks)
      : ranks_(std::move(ranks)), is_here_(ranks_.size()), is_withdrawn_(ranks_.size()) {}

  int size() const { return static_cast<int>(ranks_.size()); }
  int rank_of(int member) const { return ranks_[static_cast<size_t>(member)]; }

  // Returns nothing when all members have arrived, and the ranks that are missing when this
  // member's patience ended: it has left then. Throws ErrorCode::Comm when a member that has not
  // arrived is gone (naming the cause), when this one withdrew, or when others gave it up.
  std::vector<int> arrive(int member, Patience patience);
  // Returns when all members have parted. Whoever arrived must call it.
  void part();

  // This member gives up waiting for others to arrive; a meeting that began goes on.
  void withdraw(int member);
  // This rank will not arrive again, or is not waited for if it does; `cause`: the rank that it is
  // due to. The first to go is the one named.
  void go(int rank, const LostRank& cause);

 private:
  bool is_hopeless(size_t member) const;

  const std::vector<int> ranks_;  // by member
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<bool> is_here_, is_withdrawn_;  // by member
  int num_here_ = 0, num_parted_ = 0;
  int64_t meetings_ = 0, partings_ = 0;
  int gone_ = -1;             // member
  LostRank cause_;            // of that
  std::vector<int> missing_;  // when the first lost patience; who did later does not count it
};

}  // namespace ingot
