// Ranks of one process that exchange tensors: each works on the others' memory directly.
#pragma once

#include <memory>
#include <vector>

#include "core/async/stream_event.h"
#include "parallel/comm/communicator.h"
#include "parallel/comm/local/meeting_point.h"
#include "parallel/comm/rank_order.h"

namespace ingot {

// What a member brings to a collective; all bring the same but for the addresses.
struct Offer {
  CollectiveCall call;
  std::shared_ptr<StreamEvent> ready;  // on a GPU: when its tensors are
};

class LocalRanks;

class LocalGroup {
 public:
  LocalGroup(LocalRanks& all, const std::vector<int>& ranks)
      : all_(all), point_(ranks), offers_(ranks.size()), endings_(ranks.size()) {}

  MeetingPoint& point() { return point_; }

  // The member's part of one collective: on the CPU done when it returns, on a GPU put on the
  // stream of `ctx`. `what` is its name in the rank's watch. Throws ErrorCode::Internal on all
  // members when their calls differ, ErrorCode::Comm as LocalRanks::arrive.
  void take_part(Context& ctx, int member, const CollectiveCall& call, const std::string& what);

 private:
  struct Ending {
    std::shared_ptr<StreamEvent> done;  // on a GPU: when it has read and written
    bool failed = false;
  };
  void work(Context& ctx, int member);
  void check_agreement() const;

  LocalRanks& all_;
  MeetingPoint point_;
  std::vector<Offer> offers_;    // by member; each writes its own before it arrives
  std::vector<Ending> endings_;  // by member; each writes its own before it parts
};

// The work of one member, given what all brought; a sender and its receiver are members 0 and 1.
// Reductions go in the order of members.
void exchange_on_cpu(int member, const std::vector<Offer>& offers);
constexpr int kMaxGpuMembers = 64;  // what a kernel's parameters hold with ease
void exchange_on_gpu(Context& ctx, int member, const std::vector<Offer>& offers);

}  // namespace ingot
