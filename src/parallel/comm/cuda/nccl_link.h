// One NCCL communicator: ordered calls among some ranks, each of them watched.
#pragma once

#include <nccl.h>

#include <atomic>
#include <chrono>
#include <deque>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "core/async/stream_event.h"
#include "core/error/error.h"
#include "parallel/comm/communicator.h"
#include "parallel/comm/cuda/nccl_turns.h"
#include "parallel/comm/host_plane.h"

namespace ingot {

class NcclCall;  // one that is in flight

// One thread calls put(); another calls poll() every few milliseconds. A failed link stays failed:
// its NCCL communicator is aborted, which ends the calls in flight, and every unfinished ticket and
// every later put() throws the failure.
class NcclLink {
 public:
  // For rank ranks[member], on the device of `compute`; all members use the same name.
  NcclLink(HostPlane& plane, std::string name, std::vector<int> ranks, int member,
           const Context& compute);
  // Does not wait for other ranks. First call withdraw() and wait until the stream has finished all
  // calls. Recorded work with calls of this link must be destroyed before: NCCL waits for it, and
  // is abandoned after some seconds.
  ~NcclLink();

  // Connects to the other members; throws ErrorCode::Comm at Deadlines::start or if a rank is lost.
  // put() calls it if needed.
  void connect();

  // Registers the memory with NCCL, if supported. At most once, after connect().
  void register_memory(const Tensor& memory);

  // Puts the call on the stream of `ctx`; the event is reached when this rank's part is done.
  // Returns at once, unless the user makes NCCL connect ranks in their first calls
  // (NCCL_RUNTIME_CONNECT=1). Inside a capture the call becomes part of the graph.
  std::shared_ptr<StreamEvent> put(Context& ctx, const CollectiveCall& call);

  // Checks the calls in flight: notes those that are done, and aborts all if the stream has been in
  // one call for Deadlines::collective, NCCL reports an error or a rank is lost.
  void poll();

  // From any thread: waiting calls throw, and calls in flight end without the other ranks.
  void withdraw();

 private:
  using Clock = std::chrono::steady_clock;

  void connect_members();
  void issue(const CollectiveCall& call, cudaStream_t stream);
  std::string await(const std::string& key);
  void settle(ncclResult_t status, const std::string& what, Clock::time_point begun,
              Timeout timeout);
  void check_progress();
  void forget_what_is_over();
  void fail(const Error& error);
  void release(bool abort);
  std::string text_of(const CollectiveCall& call) const;
  std::string text_of(int64_t number) const;
  void check_others(Clock::duration waited);
  void check_nccl(ncclResult_t status, const char* call);
  [[noreturn]] void throw_late(const std::string& what, Timeout waited);

  HostPlane& plane_;
  const std::string name_;
  const std::vector<int> ranks_;  // by member
  const int member_;
  const int device_;
  std::atomic<bool> withdrawn_ = false;

  std::mutex mutex_;  // NCCL requires one thread at a time
  ncclComm_t comm_ = nullptr;
  void* registered_ = nullptr;  // NCCL's handle of the memory
  std::future<void> released_;  // valid after the request to destroy it
  std::exception_ptr failure_;
  int64_t num_calls_ = 0;
  std::deque<std::shared_ptr<NcclCall>> in_flight_;  // by number
  std::map<int64_t, std::string> recorded_;          // calls in graphs, which may run at any time
  NcclTurns turns_;
  uint64_t last_turn_ = 0;
  Clock::time_point since_;          // when that turn was first seen
  std::optional<Watched> replayed_;  // a recorded call, once it was seen twice
};

}  // namespace ingot
