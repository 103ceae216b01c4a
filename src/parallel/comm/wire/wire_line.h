// An ordered sequence of calls over a channel: a communicator's collectives, or the messages from
// one member to another.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/device/context.h"
#include "parallel/comm/communicator.h"
#include "parallel/comm/wire/wire.h"
#include "parallel/comm/wire/wire_stage.h"

namespace ingot {

class WireLine {
 public:
  // For rank ranks[member]; messages go from member 0 to member 1.
  WireLine(std::unique_ptr<Channel> channel, HostPlane& plane, std::vector<int> ranks, int member,
           Device device);

  std::string text_of(const CollectiveCall& call) const;  // "all_reduce #7 … among 0,1,2"

  // Runs this member's part on a lane's thread; on a GPU the tensors have their values at the then
  // current position of the stream of `ctx`. Throws ErrorCode::Internal on all members if their
  // calls differ, and as Channel::exchange() does.
  void take_part(Context& ctx, const CollectiveCall& call);

  // From any thread: abandons calls that others have not joined. A call that all have joined
  // continues.
  void close();

 private:
  struct Opening;

  void open(Context& ctx, const CollectiveCall& call);
  void check_agreement(const std::vector<Opening>& openings) const;
  void close_up(Context& ctx, const CollectiveCall& call, const std::vector<Opening>& openings);
  bool is_small(const CollectiveCall& call) const;
  bool gives(const CollectiveCall& call, int member) const;
  const void* given(const CollectiveCall& call, int to) const;
  int64_t given_bytes(const CollectiveCall& call) const;

  void carry_out(Context& ctx, const CollectiveCall& call);
  void all_reduce(Context& ctx, const CollectiveCall& call);
  void reduce_scatter(Context& ctx, const CollectiveCall& call);
  void all_gather(Context& ctx, const CollectiveCall& call);
  void pass_on(Context& ctx, const CollectiveCall& call, int from);
  void copy_own_part(Context& ctx, const CollectiveCall& call);
  void exchange();

  int size() const { return static_cast<int>(ranks_.size()); }
  int64_t chunk(DType dtype) const { return stage_.chunk_bytes() / size_of(dtype); }  // elements

  const std::unique_ptr<Channel> channel_;
  HostPlane& plane_;
  const std::vector<int> ranks_;  // by member
  const int member_;
  WireStage stage_;
  // Of the round that is being prepared.
  std::vector<Outgoing> out_;
  std::vector<Incoming> in_;
  std::chrono::steady_clock::time_point deadline_{};

  std::mutex mutex_;
  bool is_joined_ = false, is_closed_ = false;
};

}  // namespace ingot
