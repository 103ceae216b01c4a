// One rank's way to the others.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/async/lane.h"
#include "parallel/comm/board.h"
#include "parallel/comm/communicator.h"
#include "parallel/comm/control.h"
#include "parallel/comm/deadlines.h"
#include "parallel/comm/process.h"
#include "parallel/comm/watch.h"

namespace ingot {

// What carries tensors between ranks: "threads" where they are those of one process, "tcp", "mpi"
// or "nccl" where they are processes, "none" where there is one.
struct Carrier {
  std::string name;
  std::string facts = {};  // of nccl: its version, and what decides the order of its sums
};

class World {
 public:
  virtual ~World() = default;
  virtual const Process& process() const = 0;
  virtual Control& control() = 0;
  virtual Board& board() = 0;
  virtual Watch& watch() = 0;  // what this rank has in flight
  virtual const Deadlines& deadlines() const = 0;
  virtual Carrier carrier() const = 0;
  // The rank by whose loss the run is over, once there is one. From any thread.
  virtual std::optional<LostRank> loss() = 0;

  // Among `ranks`: increasing, this one among them. Every rank of the group asks for it, and in the
  // same order where it asks several times for the same ranks. For tensors on the device of
  // `compute`, which must outlive it, as must the memory of those tensors.
  virtual std::unique_ptr<Communicator> communicator(std::span<const int> ranks,
                                                     Context& compute) = 0;
  std::unique_ptr<Communicator> everyone(Context& compute);  // among all ranks

  int rank() const { return process().rank; }
  int size() const { return process().world; }

 protected:
  void check_group(std::span<const int> ranks) const;  // for communicator()
};

// A world of one rank.
std::unique_ptr<World> single_world(Device device = Device::cpu());

// The ranks of a world that is this process alone: threads that share one device.
std::vector<Process> local_processes(int ranks, Device device);

struct LocalOptions {
  LaneDelay delay = {};  // of the lanes of communicators, each with a seed of its own
  Deadlines deadlines = {};
};

// Runs body(world) on a thread for each of `processes`, which are local_processes(), and joins
// them. Rank 0 is the caller. The first failure (of the rank that failed itself, not of those it
// released) is rethrown with its rank.
void run_local_ranks(std::span<const Process> processes, const std::function<void(World&)>& body,
                     const LocalOptions& options = {});
void run_local_ranks(int ranks, Device device, const std::function<void(World&)>& body,
                     const LocalOptions& options = {});

}  // namespace ingot
