// A reusable barrier for threads that are ranks.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "parallel/comm/control.h"
#include "parallel/comm/watch.h"

namespace ingot {

// A round begins when all members have arrived and ends when all have parted. What a member wrote
// before arrive(), the others may read until they part. What it wrote before part(), they may read
// until they arrive again.
class RankBarrier {
 public:
  explicit RankBarrier(std::vector<int> ranks)
      : ranks_(std::move(ranks)), is_here_(ranks_.size()), is_withdrawn_(ranks_.size()) {}

  int size() const { return static_cast<int>(ranks_.size()); }
  int rank_of(int member) const { return ranks_[static_cast<size_t>(member)]; }

  // Returns an empty list when all members have arrived. At a timeout returns the missing ranks;
  // this member has then left the round. Throws ErrorCode::Comm if a missing member is lost (naming
  // the cause), if this member withdrew, or if another member timed out.
  std::vector<int> arrive(int member, Timeout timeout);
  // Returns when all members have parted. Every member that arrived must call it.
  void part();

  // This member stops waiting for others to arrive; a round that has begun continues.
  void withdraw(int member);
  // This rank will not arrive again, or is not waited for. `cause`: the rank responsible. Errors
  // name the first rank that went.
  void go(int rank, const LostRank& cause);

 private:
  bool is_hopeless(size_t member) const;

  const std::vector<int> ranks_;  // by member
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<bool> is_here_, is_withdrawn_;  // by member
  int num_here_ = 0, num_parted_ = 0;
  int64_t rounds_ = 0, partings_ = 0;
  int gone_ = -1;             // member
  LostRank cause_;            // of that
  std::vector<int> missing_;  // at the first timeout; a member that times out later is not counted
};

}  // namespace ingot
