#include "parallel/comm/rank_launcher.h"

#include "parallel/comm/process/process_world.h"

namespace ingot {
namespace {

class OneRank final : public RankLauncher {
 public:
  explicit OneRank(Device device) : device_(device) {}

 private:
  void start(const Body& body) override { body(*single_world(device_)); }

  const Device device_;
};

class Threads final : public RankLauncher {
 public:
  Threads(int ranks, Device device, const LocalOptions& options)
      : ranks_(ranks), device_(device), options_(options) {}

 private:
  void start(const Body& body) override { run_local_ranks(ranks_, device_, body, options_); }

  const int ranks_;
  const Device device_;
  const LocalOptions options_;
};

}  // namespace

std::unique_ptr<RankLauncher> rank_launcher(const Process& own, const WorldOptions& options) {
  if (own.world == 1) return std::make_unique<OneRank>(own.device);
  if (own.rendezvous.empty())
    return std::make_unique<Threads>(
        own.world, own.device,
        LocalOptions{.delay = options.delay, .deadlines = options.deadlines});
  return own.rendezvous == "mpi" ? mpi_rank(own, options) : tcp_rank(own, options);
}

}  // namespace ingot
