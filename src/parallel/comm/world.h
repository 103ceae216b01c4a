// One rank's connection to the other ranks.
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

// The transport of tensors between ranks: "threads" within one process, "tcp", "mpi" or "nccl"
// between processes, "none" for a single rank.
struct Transport {
  std::string name;
  std::string facts = {};  // for nccl: its version, and what decides the order of its sums
};

class World {
 public:
  virtual ~World() = default;
  virtual const Process& process() const = 0;
  virtual Control& control() = 0;
  virtual Board& board() = 0;
  virtual Watch& watch() = 0;  // this rank's communication in flight
  virtual const Deadlines& deadlines() const = 0;
  virtual Transport transport() const = 0;
  // The rank whose loss ended the run, if any. From any thread.
  virtual std::optional<LostRank> loss() = 0;

  // Among `ranks`: increasing, including this rank. Every rank of the group calls it, in the same
  // order if it does so several times for the same ranks. For tensors on the device of `compute`.
  // `compute` and the tensors' memory must outlive it.
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

// The ranks of a world within this process: threads that share one device.
std::vector<Process> local_processes(int ranks, Device device);

struct LocalOptions {
  LaneDelay delay = {};  // for lanes of communicators; each gets its own seed
  Deadlines deadlines = {};
};

// Runs body(world) on one thread per entry of `processes`, from local_processes(), and joins them.
// The caller is rank 0. Rethrows the first failure with its rank: that of the rank that failed
// itself, not of ranks that it released.
void run_local_ranks(std::span<const Process> processes, const std::function<void(World&)>& body,
                     const LocalOptions& options = {});
void run_local_ranks(int ranks, Device device, const std::function<void(World&)>& body,
                     const LocalOptions& options = {});

}  // namespace ingot
