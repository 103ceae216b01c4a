// What the ranks of one process share: the meeting point and what each brings to a collective.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "core/tensor.h"

namespace ingot {

enum class Collective { Barrier, AllReduce, AllGather, ReduceScatter, Broadcast };

// What a rank brings; all ranks must bring the same but for the address.
struct Offer {
  Collective kind = Collective::Barrier;
  Tensor tensor;
  int root = -1;
};

class LocalGroup {
 public:
  explicit LocalGroup(int ranks) : offers_(static_cast<size_t>(ranks)) {}

  int size() const { return static_cast<int>(offers_.size()); }

  // Lays down this rank's offer and waits for all others. Throws Internal on every rank when the
  // offers differ. The returned offers are stable until meet() is called again.
  const std::vector<Offer>& bring(int rank, const Offer& offer);

  // Returns once every rank has called it as often as this one; throws Comm, naming the rank, when
  // one is gone and it never will.
  void meet();

  // This rank will not meet again, and why; releases all who wait. The first to go is the one
  // named.
  void go(int rank, const std::string& why);

 private:
  std::vector<Offer> offers_;  // each rank writes its own, and only between two meetings

  std::mutex mutex_;
  std::condition_variable changed_;
  int arrived_ = 0;
  int64_t round_ = 0;
  int gone_rank_ = -1;
  std::string gone_why_;
};

}  // namespace ingot
