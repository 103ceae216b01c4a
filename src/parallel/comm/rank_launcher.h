// Starting the ranks of a run that this process is.
#pragma once

#include <functional>
#include <memory>

#include "core/async/lane.h"
#include "parallel/comm/deadlines.h"
#include "parallel/comm/nccl_facts.h"
#include "parallel/comm/process.h"
#include "parallel/comm/world.h"
#include "spec/layout/comm_backend.h"

namespace ingot {

class RankLauncher {
 public:
  using Body = std::function<void(World&)>;
  virtual ~RankLauncher() = default;

  // Runs body(world) for every rank that this process is, and rethrows what failed. The error of
  // one of several ranks has a rank: that which failed itself.
  void run(const Body& body) {
    has_begun_ = true;
    start(body);
  }
  // Whether run() was called: ranks of other processes have met this one, or could not.
  bool has_begun() const { return has_begun_; }

 private:
  virtual void start(const Body& body) = 0;

  bool has_begun_ = false;
};

struct WorldOptions {
  CommBackend backend = CommBackend::Auto;  // of ranks that are processes
  Deadlines deadlines = {};
  LaneDelay delay = {};  // of the lanes of communicators, each with a seed of its own
  ReadVariable variable = [](const char*) { return std::string(); };
};

// By how `own` meets the others: threads of this process, one of which it is itself; one rank that
// meets other processes by TCP; or one that mpirun started. One rank alone meets nobody.
std::unique_ptr<RankLauncher> rank_launcher(const Process& own, const WorldOptions& options = {});

}  // namespace ingot
