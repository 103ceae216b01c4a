// Byte transport between ranks that are processes; the collectives of tcp and mpi are built on it.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/async/lane.h"
#include "core/device/context.h"
#include "parallel/comm/communicator.h"
#include "parallel/comm/host_plane.h"

namespace ingot {

struct Outgoing {
  int member = 0;
  std::span<const std::byte> bytes;
};
struct Incoming {
  int member = 0;
  std::span<std::byte> bytes;
};

// An ordered sequence of messages among the members of a group. For one thread at a time.
class Channel {
 public:
  virtual ~Channel() = default;
  // Sends and receives all of it at once. Messages from one member to another keep the order of the
  // spans and of the calls; otherwise the order is free. Both sides know the sizes. Returns when
  // everything is sent and received. Throws ErrorCode::Comm at a timeout, with the ranks whose
  // bytes did not come or were not taken; if the host plane knows of a lost rank; and after
  // withdraw().
  virtual void exchange(std::span<const Outgoing> out, std::span<const Incoming> in,
                        Timeout timeout) = 0;
  // From any thread: a waiting exchange, and all later ones, throw.
  virtual void withdraw() = 0;
};

class Wire {
 public:
  virtual ~Wire() = default;
  virtual std::string name() const = 0;  // "tcp", "mpi"
  // Among `ranks` (by member); all of them open it with the same name.
  virtual std::unique_ptr<Channel> open(const std::string& name, const std::vector<int>& ranks) = 0;
};

std::unique_ptr<Wire> tcp_wire(HostPlane& plane);
// Loads MPI; throws ErrorCode::Missing with what to install if it is not installed.
std::unique_ptr<Wire> mpi_wire(HostPlane& plane);

// Collectives over a wire with sums in rank order; GPU memory is staged through pinned memory. For
// rank ranks[member]; `name` distinguishes communicators of the same ranks. `delay`: for its lanes.
std::unique_ptr<Communicator> wire_communicator(Wire& wire, HostPlane& plane,
                                                const std::string& name, std::vector<int> ranks,
                                                int member, const Context& compute,
                                                const LaneDelay& delay = {});

// Collectives with NCCL, loaded on request; throws ErrorCode::Missing if it is not installed.
std::unique_ptr<Communicator> nccl_communicator(HostPlane& plane, const std::string& name,
                                                std::vector<int> ranks, int member,
                                                const Context& compute);

}  // namespace ingot
