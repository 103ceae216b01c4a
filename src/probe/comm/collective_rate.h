// Measures the duration of a group's collectives by size.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/device/context.h"
#include "parallel/comm/world.h"

namespace ingot {

// All-to-all is a pairwise exchange with send and recv.
enum class ProbedCollective { AllReduce, AllGather, ReduceScatter, AllToAll };
inline constexpr ProbedCollective kProbedCollectives[] = {
    ProbedCollective::AllReduce, ProbedCollective::AllGather, ProbedCollective::ReduceScatter,
    ProbedCollective::AllToAll};
std::string_view name_of(ProbedCollective kind);  // "all_reduce"

// Bus bandwidth factor as in nccl-tests: bytes per direction on a rank's link per byte of the
// tensor, for any algorithm: 2(n−1)/n for an all-reduce, (n−1)/n for the others. A rate times this
// factor is comparable with the link's rate for any number of ranks.
double bus_factor(ProbedCollective kind, int ranks);

struct CollectiveRate {
  ProbedCollective kind = ProbedCollective::AllReduce;
  std::string group;     // "world", "node", "leaders"
  int ranks = 0;         // of the group
  int64_t bytes = 0;     // of the unsharded tensor, e.g. of an all-gather's output
  double seconds = 0.0;  // median of the slowest rank's time

  double algorithm_bytes_s() const { return static_cast<double>(bytes) / seconds; }
  double bus_bytes_s() const { return algorithm_bytes_s() * bus_factor(kind, ranks); }
};
nlohmann::json to_json(const CollectiveRate& rate);

struct CollectiveTask {
  ProbedCollective kind = ProbedCollective::AllReduce;
  int64_t bytes = 0;
  DType dtype = DType::F32;
};

// The maximum of `own` over all ranks.
double agree_on_largest(Control& control, std::string_view what, double own);

struct CollectiveOptions {
  double seconds_each = 0.1;  // approximately, per task
  // Skips larger tasks of a kind after one that took longer than that.
  bool leave_out_slow = true;
  // Calls cycle through this much memory over all ranks, so that inputs are not in a cache; 0:
  // every call uses the same memory.
  int64_t cold_bytes = 0;
};

// Times the tasks in order among the ranks of `group`. All ranks of the world call it with the same
// tasks; ranks outside of the group pass an empty group. Disjoint groups may be measured at once:
// the slowest counts. Returns the same on every rank.
std::vector<CollectiveRate> measure_collectives(World& world, Context& ctx, const std::string& name,
                                                std::span<const int> group,
                                                std::span<const CollectiveTask> tasks,
                                                const CollectiveOptions& options);

// 1 KiB, 4 KiB, … most_bytes, of each kind.
std::vector<CollectiveTask> collective_sweep(int64_t most_bytes);

}  // namespace ingot
