// Ranks of one process that exchange tensors: each reads and writes the others' memory directly.
#pragma once

#include <memory>
#include <vector>

#include "core/async/stream_event.h"
#include "parallel/comm/communicator.h"
#include "parallel/comm/local/rank_barrier.h"
#include "parallel/comm/rank_order.h"

namespace ingot {

// A member's arguments of a collective; all are equal except for the addresses.
struct Offer {
  CollectiveCall call;
  std::shared_ptr<StreamEvent> ready;  // on a GPU: when its tensors are ready
};

class LocalRanks;

class LocalGroup {
 public:
  LocalGroup(LocalRanks& all, const std::vector<int>& ranks)
      : all_(all), point_(ranks), offers_(ranks.size()), endings_(ranks.size()) {}

  RankBarrier& point() { return point_; }

  // Runs the member's part of one collective: complete at return on the CPU, put on the stream of
  // `ctx` on a GPU. `what` is its name in the rank's watch. Throws ErrorCode::Internal on all
  // members if their calls differ, ErrorCode::Comm as LocalRanks::arrive does.
  void take_part(Context& ctx, int member, const CollectiveCall& call, const std::string& what);

 private:
  struct Ending {
    std::shared_ptr<StreamEvent> done;  // on a GPU: after its reads and writes
    bool failed = false;
  };
  void work(Context& ctx, int member);
  void check_agreement() const;

  LocalRanks& all_;
  RankBarrier point_;
  std::vector<Offer> offers_;    // by member; each writes its own before arrive()
  std::vector<Ending> endings_;  // by member; each writes its own before part()
};

// The work of one member, given all offers; a sender and its receiver are members 0 and 1.
// Reductions run in member order.
void exchange_on_cpu(int member, const std::vector<Offer>& offers);
constexpr int kMaxGpuMembers = 64;  // fits into a kernel's parameters
void exchange_on_gpu(Context& ctx, int member, const std::vector<Offer>& offers);

}  // namespace ingot
