#include <fmt/ranges.h>

#include <algorithm>
#include <exception>
#include <thread>

#include "core/error/foreign_error.h"
#include "parallel/comm/local/local_ranks.h"
#include "parallel/comm/world.h"

namespace ingot {
namespace {

class LocalControl final : public Control {
 public:
  LocalControl(LocalRanks& all, int rank)
      : Control(all.deadlines().collective), all_(all), rank_(rank) {}
  int rank() const override { return rank_; }
  int size() const override { return all_.size(); }
  std::vector<std::string> gather(std::string_view what, std::string_view own,
                                  Timeout timeout) override {
    return all_.gather(rank_, what, own, length_of(timeout));
  }

 private:
  LocalRanks& all_;
  int rank_;
};

class LocalWorld final : public World {
 public:
  LocalWorld(LocalRanks& all, const Process& process, const LaneDelay& delay)
      : all_(all),
        process_(process),
        control_(all, process.rank),
        delay_{delay.seed + (static_cast<uint64_t>(process.rank) << 32), delay.most} {}

  const Process& process() const override { return process_; }
  Control& control() override { return control_; }
  Board& board() override { return all_; }
  Watch& watch() override { return all_.watch(process_.rank); }
  const Deadlines& deadlines() const override { return all_.deadlines(); }
  Transport transport() const override { return {"threads"}; }
  std::optional<LostRank> loss() override { return all_.loss(); }

  std::unique_ptr<Communicator> communicator(std::span<const int> ranks,
                                             Context& compute) override {
    check_group(ranks);
    // A world of one is asked for to go the way of several.
    if (ranks.size() == 1 && size() > 1) return single_communicator(compute);
    const std::string group = fmt::format("{}", fmt::join(ranks, ","));
    const int number = made_[group]++;
    const auto member = std::find(ranks.begin(), ranks.end(), process_.rank) - ranks.begin();
    delay_.seed += 1 << 16;
    return local_communicator(all_, fmt::format("{} #{}", group, number),
                              {ranks.begin(), ranks.end()}, static_cast<int>(member), compute,
                              delay_);
  }

 private:
  LocalRanks& all_;
  Process process_;
  LocalControl control_;
  LaneDelay delay_;
  std::map<std::string, int> made_;  // communicators of the same ranks
};

// How one rank's body ended.
struct Outcome {
  std::exception_ptr error;
  bool released = false;  // it failed only because another rank was gone
};

Outcome run_rank(LocalRanks& all, const Process& process, const LaneDelay& delay,
                 const std::function<void(World&)>& body) {
  const int rank = process.rank;
  LostRank cause{rank, ""};
  Outcome outcome;
  try {
    LocalWorld world(all, process, delay);
    body(world);
  } catch (Error& error) {
    outcome.released = error.code() == ErrorCode::Comm && error.rank() >= 0 && error.rank() != rank;
    if (!outcome.released) error.on_rank(rank);
    outcome.error = std::current_exception();
    cause = {error.rank(), error.what()};
  } catch (const std::exception& error) {
    Error ours = translated(error);
    cause.why = ours.what();
    outcome.error = std::make_exception_ptr(ours.on_rank(rank));
  }
  if (outcome.error)
    all.lose(rank, cause);
  else
    all.leave(rank);
  return outcome;
}

}  // namespace

std::vector<Process> local_processes(int ranks, Device device) {
  check(ranks >= 1, ErrorCode::Config, "local ranks: expected at least 1, got {}", ranks);
  std::vector<Process> processes;
  for (int rank = 0; rank < ranks; ++rank)
    processes.push_back({rank, ranks, /*local_rank=*/rank, /*local_world=*/ranks, device, ""});
  return processes;
}

void run_local_ranks(int ranks, Device device, const std::function<void(World&)>& body,
                     const LocalOptions& options) {
  run_local_ranks(local_processes(ranks, device), body, options);
}

void run_local_ranks(std::span<const Process> processes, const std::function<void(World&)>& body,
                     const LocalOptions& options) {
  const int ranks = static_cast<int>(processes.size());
  for (int rank = 0; rank < ranks; ++rank) {
    const Process& process = processes[static_cast<size_t>(rank)];
    check(process.rank == rank && process.world == ranks, ErrorCode::Internal,
          "local ranks: expected rank {} of {}, got rank {} of {}", rank, ranks, process.rank,
          process.world);
  }
  LocalRanks all(ranks, options.deadlines);
  std::vector<Outcome> outcomes(static_cast<size_t>(ranks));
  {
    std::vector<std::jthread> threads;
    threads.reserve(outcomes.size());
    try {
      for (int rank = 1; rank < ranks; ++rank)
        threads.emplace_back([&, rank] {
          const auto at = static_cast<size_t>(rank);
          outcomes[at] = run_rank(all, processes[at], options.delay, body);
        });
    } catch (const std::system_error& error) {
      all.lose(0, {0, translated(error).what()});
      throw;
    }
    outcomes[0] = run_rank(all, processes[0], options.delay, body);  // on the caller's thread
  }
  for (const bool released : {false, true})
    for (const Outcome& outcome : outcomes)
      if (outcome.error && outcome.released == released) std::rethrow_exception(outcome.error);
}

}  // namespace ingot
