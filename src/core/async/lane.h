// Work in flight, in order. What is issued to one lane is carried out one after the other; lanes
// run beside each other unless a ticket says otherwise.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "core/async/ticket.h"
#include "core/device/context.h"

namespace ingot {

// Tests wait at random before each piece of work to show that results hang on tickets alone and
// not on luck. `most` 0: no wait.
struct LaneDelay {
  uint64_t seed = 0;
  std::chrono::microseconds most{0};
};

struct LaneOptions {
  int threads = 1;  // of the lane's own pool on the CPU; 0: none, for work that runs no ops
  LaneDelay delay = {};
};

class Lane {
 public:
  virtual ~Lane() = default;  // waits until everything issued is done

  // What work issued to this lane computes with. On a GPU its stream is the lane's.
  virtual Context& context() = 0;

  // On a GPU, and on the compute lane of the CPU, `work` is called at once (and throws at once);
  // on a GPU it puts kernels and copies on the lane's stream. On a worker lane it is queued and
  // must own what it refers to. Work that throws there fails the lane: what is issued after it is
  // not called, and every ticket marked after it carries the failure.
  virtual void issue(std::function<void(Context&)> work) = 0;

  // Speaks of all work issued so far.
  virtual Ticket mark(std::string name) = 0;

  // What is issued from now on begins after the ticket's work, and fails with it. The host waits
  // only where the caller itself carries the work out: on the compute lane of the CPU, and on a
  // GPU until another thread has put the ticket's work on its stream. While a stream is captured
  // mark() and after() fork and join the capture.
  virtual void after(const Ticket& ticket) = 0;
};

// The lane of a context itself: on the CPU the caller, on a GPU the context's stream. The context
// must outlive it.
std::unique_ptr<Lane> compute_lane(Context& compute, const LaneDelay& delay = {});

// A lane beside it, on the same device, with a context of its own (no workspace): on the CPU a
// worker thread, on a GPU a stream.
std::unique_ptr<Lane> side_lane(const Context& compute, const LaneOptions& options = {});

// The same, but a worker thread also carries out the host's part on a GPU: for work in which the
// host waits, as for other ranks. Its tickets are settled by that thread.
std::unique_ptr<Lane> worker_lane(const Context& compute, const LaneOptions& options = {});

}  // namespace ingot
