// How long collectives of a group take, by size.
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

// All-to-all is a pairwise exchange, made of sends.
enum class ProbedCollective { AllReduce, AllGather, ReduceScatter, AllToAll };
inline constexpr ProbedCollective kProbedCollectives[] = {
    ProbedCollective::AllReduce, ProbedCollective::AllGather, ProbedCollective::ReduceScatter,
    ProbedCollective::AllToAll};
std::string_view name_of(ProbedCollective kind);  // "all_reduce"

// Bytes that the link of a rank carries in each direction for a byte of the tensor, whatever the
// algorithm is: 2(n−1)/n for an all-reduce, (n−1)/n for the others. Rates times this compare with
// a link's rate, for any number of ranks; as nccl-tests has it.
double bus_factor(ProbedCollective kind, int ranks);

struct CollectiveRate {
  ProbedCollective kind = ProbedCollective::AllReduce;
  std::string group;     // "world", "node", "leaders"
  int ranks = 0;         // of the group
  int64_t bytes = 0;     // of the whole tensor: what all ranks have after an all-gather
  double seconds = 0.0;  // until the slowest rank has it, median

  double algorithm_bytes_s() const { return static_cast<double>(bytes) / seconds; }
  double bus_bytes_s() const { return algorithm_bytes_s() * bus_factor(kind, ranks); }
};
nlohmann::json to_json(const CollectiveRate& rate);

struct CollectiveTask {
  ProbedCollective kind = ProbedCollective::AllReduce;
  int64_t bytes = 0;
  DType dtype = DType::F32;
};

// The largest number of own's over all ranks.
double agree_on_largest(Control& control, std::string_view what, double own);

struct CollectiveOptions {
  double seconds_each = 0.1;  // of a task, about
  // Leave out what follows a task of the same kind that took longer than that.
  bool leave_out_slow = true;
  // Calls go round this much memory of all ranks together, so that what they read is not in a
  // cache; 0: each call is on the same.
  int64_t cold_bytes = 0;
};

// Times the tasks, one after another, among the ranks of `group`; all ranks of the world call it,
// with the same tasks, those outside of the group with an empty one. Several disjoint groups may be
// measured at once: the slowest counts. The same on every rank.
std::vector<CollectiveRate> measure_collectives(World& world, Context& ctx, const std::string& name,
                                                std::span<const int> group,
                                                std::span<const CollectiveTask> tasks,
                                                const CollectiveOptions& options);

// 1 KiB, 4 KiB, … most_bytes, of each kind.
std::vector<CollectiveTask> collective_sweep(int64_t most_bytes);

}  // namespace ingot
