// A queue of work. Work issued to one lane runs in order. Work on different lanes runs concurrently
// unless a ticket orders it.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "core/async/ticket.h"
#include "core/device/context.h"

namespace ingot {

// Tests wait for a random time before each piece of work. This shows that results depend on tickets
// and not on timing. `most` 0: no wait.
struct LaneDelay {
  uint64_t seed = 0;
  std::chrono::microseconds most{0};
};

struct LaneOptions {
  int threads = 1;  // of the lane's own pool on the CPU; 0: no pool, for work that runs no ops
  LaneDelay delay = {};
};

class Lane {
 public:
  virtual ~Lane() = default;  // waits until all issued work is done

  // What work issued to this lane computes with. On a GPU its stream is the lane's stream.
  virtual Context& context() = 0;

  // On a GPU, and on the compute lane of the CPU, `work` is called (and throws) at once; on a GPU
  // it puts kernels and copies on the lane's stream. On a worker lane `work` is queued and must own
  // everything it refers to. If queued work throws, the lane fails: work issued later is not
  // called, and every ticket marked later carries the failure.
  virtual void issue(std::function<void(Context&)> work) = 0;

  // The ticket covers all work issued so far.
  virtual Ticket mark(std::string name) = 0;

  // Work issued from now on starts after the ticket's work and fails if that fails. The host waits
  // in two cases: on the compute lane of the CPU, and on a GPU until another thread has put the
  // ticket's work on its stream. While a stream is captured, mark() and after() fork and join the
  // capture.
  virtual void after(const Ticket& ticket) = 0;
};

// The lane of a context itself: the caller on the CPU, the context's stream on a GPU. The context
// must outlive the lane.
std::unique_ptr<Lane> compute_lane(Context& compute, const LaneDelay& delay = {});

// A lane on the same device with a context of its own (no workspace): a worker thread on the CPU, a
// stream on a GPU.
std::unique_ptr<Lane> side_lane(const Context& compute, const LaneOptions& options = {});

// The same, but a worker thread also runs the host's part on a GPU. Use it for work in which the
// host waits, for example for other ranks. The worker thread settles its tickets.
std::unique_ptr<Lane> worker_lane(const Context& compute, const LaneOptions& options = {});

}  // namespace ingot
