// Bytes between ranks that are processes: what the collectives of tcp and mpi are made of.
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

// One order of messages among the members of a group. One thread at a time.
class Channel {
 public:
  virtual ~Channel() = default;
  // Sends and receives all of it, at once and in any order between members; from one member to
  // another in the order of the spans and of the calls. Sizes are agreed beforehand. Returns when
  // all has gone and come. Throws ErrorCode::Comm when patience ends, naming the ranks whose bytes
  // did not come or were not taken, when the host plane knows of a lost rank, and when withdrawn.
  virtual void exchange(std::span<const Outgoing> out, std::span<const Incoming> in,
                        Patience patience) = 0;
  // From any thread: an exchange that waits, and all later ones, throw.
  virtual void withdraw() = 0;
};

class Wire {
 public:
  virtual ~Wire() = default;
  virtual std::string name() const = 0;  // "tcp", "mpi"
  // Among `ranks` (by member), which all open it by the same name.
  virtual std::unique_ptr<Channel> open(const std::string& name, const std::vector<int>& ranks) = 0;
};

std::unique_ptr<Wire> tcp_wire(HostPlane& plane);
// Loads MPI; throws ErrorCode::Missing where it is not installed, saying what to install.
std::unique_ptr<Wire> mpi_wire(HostPlane& plane);

// Collectives over a wire, sums in rank order; memory of a GPU is staged through pinned memory.
// Of the rank that is ranks[member]; `name` tells communicators of the same ranks apart. `delay`:
// of its lanes.
std::unique_ptr<Communicator> wire_communicator(Wire& wire, HostPlane& plane,
                                                const std::string& name, std::vector<int> ranks,
                                                int member, const Context& compute,
                                                const LaneDelay& delay = {});

// Collectives of NCCL, loaded when asked for; ErrorCode::Missing where it is not there.
std::unique_ptr<Communicator> nccl_communicator(HostPlane& plane, const std::string& name,
                                                std::vector<int> ranks, int member,
                                                const Context& compute);

}  // namespace ingot
