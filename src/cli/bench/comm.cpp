// ingot bench comm: collectives of a training step against what the links between ranks carry.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>

#include "cli/bench/shape.h"
#include "cli/start/processes.h"
#include "core/error/error.h"
#include "core/text/format.h"
#include "probe/comm/collective_rate.h"
#include "probe/comm/link_limits.h"
#include "probe/comm/socket_rate.h"
#include "probe/measure.h"
#include "spec/model/transformer_parameters.h"

namespace ingot::cli {
namespace {

// What a step exchanges: weights and gradients of a block, activations of a micro-batch.
struct StepExchange {
  std::string name;  // "layer weights"
  CollectiveTask task;
};

std::vector<StepExchange> exchanges_of(const ResolvedRun& run) {
  const ModelConfig& model = run.config.model;
  std::map<int, int64_t> numel;  // by block
  const TensorTable parameters = transformer_parameters(model);
  for (const TensorSpec& parameter : parameters.rows())
    numel[parameter.block] += parameter.shape.numel();
  const DType compute = run.shape.compute, wide = accumulation_dtype(compute);
  std::vector<StepExchange> all;
  const auto add = [&](const std::string& name, ProbedCollective kind, int64_t count, DType dtype) {
    all.push_back({name, {kind, count * size_of(dtype), dtype}});
  };
  for (const auto& [block, name] : {std::pair{0, "embedding"}, std::pair{1, "layer"}}) {
    add(fmt::format("{} weights", name), ProbedCollective::AllGather, numel[block], compute);
    add(fmt::format("{} gradients", name), ProbedCollective::ReduceScatter, numel[block], wide);
    add(fmt::format("{} gradients", name), ProbedCollective::AllReduce, numel[block], wide);
  }
  add("activations", ProbedCollective::AllToAll, run.shape.B * run.shape.T * model.dim, compute);
  return all;
}

struct BenchCommCommand {
  BenchShape shape;
  double seconds = 10.0;
  JsonOption json;

  void run() const {
    const ResolvedRun run = shape.resolved();
    check(run.config.system.ranks > 1, ErrorCode::Config,
          "collectives are of several ranks, got one: give -n 2, or start several by a launcher");
    const std::vector<StepExchange> exchanges = exchanges_of(run);
    std::vector<CollectiveRate> rates;
    LinkLimit limit;
    started_ranks(run)->run([&](World& world) {
      ComputeDevice compute(world.process().device, run.place.threads_per_rank,
                            run.config.system.cache_dir);
      const LinkLimit own_limit = limit_of(run, world, compute.context());
      std::vector<CollectiveTask> tasks;
      for (const StepExchange& exchange : exchanges) tasks.push_back(exchange.task);
      std::vector<int> everyone(static_cast<size_t>(world.size()));
      for (size_t i = 0; i < everyone.size(); ++i) everyone[i] = static_cast<int>(i);
      auto own = measure_collectives(world, compute.context(), "world", everyone, tasks,
                                     {.seconds_each = seconds / static_cast<double>(tasks.size()),
                                      .leave_out_slow = false,
                                      .cold_bytes = cold_bytes(compute.context().facts)});
      if (world.rank() != 0) return;
      rates = std::move(own);
      limit = own_limit;
    });
    if (leads_run()) show(run, exchanges, rates, limit);
  }

 private:
  // Of the way between two ranks. In one memory all ranks share it: what each gets of it.
  static LinkLimit limit_of(const ResolvedRun& run, World& world, Context& ctx) {
    const std::string transport = world.transport().name;
    if (transport == "nccl" && world.process().local_world == world.size())
      return gpu_link_limit(gpu_name(ctx.device));
    if (transport != "threads")
      return {measure_socket_ring(world, 1.0), "one plain socket from each rank to the next"};
    double copy = 0;
    if (world.rank() == 0) {
      ComputeDevice whole(ctx.device, static_cast<int>(run.config.system.threads), "");
      copy = measure_copy_bandwidth(whole.context());
    }
    copy = agree_on_largest(world.control(), "bench comm: copy", copy);
    // A byte that a rank gets is read once and written once.
    return {copy / 2 / static_cast<double>(world.size()),
            fmt::format("a copy in {}, shared by {} ranks",
                        ctx.device.kind == DeviceKind::Cpu ? "memory" : "the GPU's memory",
                        world.size())};
  }

  void show(const ResolvedRun& run, const std::vector<StepExchange>& exchanges,
            const std::vector<CollectiveRate>& rates, const LinkLimit& limit) const {
    fmt::print("{} {} of {} ranks on {}; the link: {}\n", run.config.preset,
               name_of(run.config.train.precision), run.config.system.ranks, run.place.device,
               limit.bytes_s == 0
                   ? std::string("its limit is not known")
                   : fmt::format("{}/s, {}", format_bytes(static_cast<int64_t>(limit.bytes_s)),
                                 limit.source));
    fmt::print("{:<22}{:<16}{:>7}{:>12}{:>12}{:>14}{:>10}\n", "exchange", "collective", "dtype",
               "size", "ms", "bus", "of limit");
    nlohmann::json rows = nlohmann::json::array();
    for (size_t i = 0; i < rates.size(); ++i) {
      const CollectiveRate& rate = rates[i];
      const DType dtype = exchanges[i].task.dtype;
      const double share = limit.bytes_s == 0 ? 0.0 : rate.bus_bytes_s() / limit.bytes_s;
      fmt::print("{:<22}{:<16}{:>7}{:>12}{:>12.3f}{:>14}{:>10}\n", exchanges[i].name,
                 name_of(rate.kind), name_of(dtype), format_bytes(rate.bytes), rate.seconds * 1e3,
                 format_bytes(static_cast<int64_t>(rate.bus_bytes_s())) + "/s",
                 limit.bytes_s == 0 ? std::string("?") : format_percent(share));
      nlohmann::json row = to_json(rate);
      row["exchange"] = exchanges[i].name;
      row["dtype"] = name_of(dtype);
      row["share_of_limit"] = limit.bytes_s == 0 ? nlohmann::json() : nlohmann::json(share);
      rows.push_back(std::move(row));
    }
    json.print({{"preset", run.config.preset},
                {"precision", name_of(run.config.train.precision)},
                {"ranks", run.config.system.ranks},
                {"device", run.place.device.str()},
                {"limit_bytes_s", limit.bytes_s},
                {"limit", limit.source},
                {"collectives", rows}});
  }
};

}  // namespace

void add_bench_comm(Command& bench) {
  auto command = std::make_shared<BenchCommCommand>();
  auto* comm = bench.add_subcommand(
      "comm", "a training step's collectives between ranks, in percent of the link's rate");
  command->shape.add_to(*comm);
  command->shape.add_ranks_to(*comm);
  comm->add_option("--seconds", command->seconds, "about how long to measure")
      ->capture_default_str()
      ->positive();
  command->json.add_to(*comm);
  comm->callback([command] { command->run(); });
}

}  // namespace ingot::cli
