#include "probe/comm/collective_rate.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <set>

#include "core/device/compute_device.h"
#include "core/error/error.h"
#include "core/system/timing.h"
#include "probe/operands.h"

namespace ingot {
namespace {

using Clock = std::chrono::steady_clock;

// What one rank of a group exchanges.
class Member {
 public:
  Member(World& world, Context& ctx, std::span<const int> group, int64_t most_bytes,
         int64_t cold_bytes)
      : operands_(ctx), communicator_(world.communicator(group, ctx)) {
    const int64_t room = std::max(most_bytes, cold_bytes / size());
    const int64_t n = room / 4 + size();
    out_ = operands_.random(DType::F32, {n}), in_ = operands_.random(DType::F32, {n});
    synchronize(ctx);  // collectives do not wait for the compute stream
  }

  int size() const { return communicator_->size(); }
  // What is exchanged: the task's, made a multiple of the ranks.
  int64_t bytes_of(const CollectiveTask& task) const {
    const int64_t unit = size_of(task.dtype) * size();
    return std::max(unit, task.bytes / unit * unit);
  }

  void exchange(const CollectiveTask& task) {
    const int64_t numel = bytes_of(task) / size_of(task.dtype), part = numel / size();
    const int me = communicator_->rank();
    // The next place in memory that has room for it, or the first.
    const int64_t bytes = align_up(bytes_of(task));
    if (at_ + 2 * bytes > out_.bytes())
      at_ = 0;
    else
      at_ += bytes;
    const auto flat = [&](const Tensor& memory) {  // (numel)
      return Tensor::contiguous(static_cast<std::byte*>(memory.data) + at_, task.dtype, {numel},
                                memory.device);
    };
    const auto part_of = [&](const Tensor& whole, int rank) {  // (part)
      return whole.slice(0, rank * part, (rank + 1) * part);
    };
    const Tensor whole = flat(out_);
    switch (task.kind) {
      case ProbedCollective::AllReduce:
        return communicator_->all_reduce(whole, Reduce::Sum, {}).wait();
      case ProbedCollective::AllGather:
        return communicator_->all_gather(part_of(whole, me), whole, {}).wait();
      case ProbedCollective::ReduceScatter:
        return communicator_->reduce_scatter(whole, part_of(whole, me), Reduce::Sum, {}).wait();
      case ProbedCollective::AllToAll: {
        const Tensor received = flat(in_);
        std::vector<Ticket> tickets;
        for (int step = 1; step < size(); ++step) {
          const int to = (me + step) % size(), from = (me - step + size()) % size();
          tickets.push_back(communicator_->send(part_of(whole, to), to, {}));
          tickets.push_back(communicator_->recv(part_of(received, from), from, {}));
        }
        for (const Ticket& ticket : tickets) ticket.wait();
        return;
      }
    }
  }

  double seconds_of(const CollectiveTask& task) {
    const auto start = Clock::now();
    exchange(task);
    return seconds_since(start);
  }

 private:
  Operands operands_;
  std::unique_ptr<Communicator> communicator_;  // works in the operands' memory
  Tensor out_, in_;
  int64_t at_ = 0;  // bytes of them that lie before a call's tensors
};

}  // namespace

std::string_view name_of(ProbedCollective kind) {
  switch (kind) {
    case ProbedCollective::AllReduce:
      return "all_reduce";
    case ProbedCollective::AllGather:
      return "all_gather";
    case ProbedCollective::ReduceScatter:
      return "reduce_scatter";
    case ProbedCollective::AllToAll:
      return "all_to_all";
  }
  throw Error(ErrorCode::Internal, "unknown collective");
}

double bus_factor(ProbedCollective kind, int ranks) {
  const auto n = static_cast<double>(ranks);
  return (kind == ProbedCollective::AllReduce ? 2.0 : 1.0) * (n - 1.0) / n;
}

nlohmann::json to_json(const CollectiveRate& rate) {
  return {{"kind", name_of(rate.kind)},
          {"group", rate.group},
          {"ranks", rate.ranks},
          {"bytes", rate.bytes},
          {"seconds", rate.seconds},
          {"algorithm_bytes_s", rate.algorithm_bytes_s()},
          {"bus_bytes_s", rate.bus_bytes_s()}};
}

double agree_on_largest(Control& control, std::string_view what, double own) {
  double largest = own;
  for (const std::string& text : control.gather(what, fmt::format("{:.17g}", own)))
    largest = std::max(largest, std::strtod(text.c_str(), nullptr));
  return largest;
}

std::vector<CollectiveRate> measure_collectives(World& world, Context& ctx, const std::string& name,
                                                std::span<const int> group,
                                                std::span<const CollectiveTask> tasks,
                                                const CollectiveOptions& options) {
  constexpr double kFewest = 3, kMost = 200;  // calls
  int64_t most_bytes = 0;
  for (const CollectiveTask& task : tasks) most_bytes = std::max(most_bytes, task.bytes);
  std::optional<Member> member;
  if (!group.empty()) member.emplace(world, ctx, group, most_bytes, options.cold_bytes);
  const auto agree = [&](const char* what, double own) {
    return agree_on_largest(world.control(), fmt::format("probe {}: {}", name, what), own);
  };
  const auto ranks = static_cast<int>(agree("ranks", member ? member->size() : 0));

  std::vector<CollectiveRate> rates;
  std::set<ProbedCollective> too_slow;
  for (const CollectiveTask& task : tasks) {
    if (too_slow.contains(task.kind)) continue;
    agree("start", 0.0);
    if (member) member->exchange(task);  // what is made on the way, and pages
    const double once = agree("once", member ? member->seconds_of(task) : 0.0);
    const auto calls =
        static_cast<int>(std::clamp(options.seconds_each / std::max(once, 1e-9), kFewest, kMost));
    std::vector<double> times = {0.0};
    if (member) {
      times.clear();
      for (int call = 0; call < calls; ++call) times.push_back(member->seconds_of(task));
    }
    const double bytes = agree("bytes", member ? static_cast<double>(member->bytes_of(task)) : 0.0);
    rates.push_back({task.kind, name, ranks, static_cast<int64_t>(bytes),
                     agree("end", median_of(std::move(times)))});
    if (options.leave_out_slow && rates.back().seconds > options.seconds_each)
      too_slow.insert(task.kind);
  }
  return rates;
}

std::vector<CollectiveTask> collective_sweep(int64_t most_bytes) {
  std::vector<CollectiveTask> tasks;
  for (const ProbedCollective kind : kProbedCollectives)
    for (int64_t bytes = 1024; bytes <= most_bytes; bytes *= 4) tasks.push_back({kind, bytes});
  return tasks;
}

}  // namespace ingot
