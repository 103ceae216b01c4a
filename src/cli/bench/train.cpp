// ingot bench train
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "cli/bench/bench.h"
#include "cli/bench/shape.h"
#include "cli/machine/speed_record.h"
#include "cli/start/processes.h"
#include "core/error/error.h"
#include "core/text/format.h"
#include "probe/op_case.h"
#include "spec/model/flops.h"
#include "train/step/bench_step.h"

namespace ingot::cli {
namespace {

std::string recompute_name(RunConfig config) {
  const std::vector<Setting> settings = settings_of(config);
  const auto recompute = std::ranges::find(settings, "train.recompute", &Setting::name);
  return std::get<std::string>(recompute->get());
}

struct BenchTrainCommand {
  BenchShape shape;
  int64_t steps = 8;
  bool limit = false, communicator = false;
  JsonOption json;

  void run() const {
    const ResolvedRun run = shape.resolved();
    const RunConfig& config = run.config;
    if (limit) check_has_limit(config);
    check(!communicator || config.system.ranks == 1, ErrorCode::Config,
          "--communicator times what one costs where there is nobody to talk to, got system.ranks "
          "= {}: leave one of them out",
          config.system.ranks);
    const double before_engine = seconds_since_process_start();
    const auto ranks = started_ranks(run);
    const StepBench bench = bench_train_step(run, {.steps = steps, .ranks = ranks.get()});
    if (!leads_run()) return;
    nlohmann::json line = show(run, bench, before_engine + bench.setup_seconds);
    json.print(line);
  }

 private:
  nlohmann::json show(const ResolvedRun& run, const StepBench& bench, double start) const {
    const RunConfig& config = run.config;
    const auto compute = open_device(run);
    Context& ctx = compute->context();
    const auto flops = [&](AttentionFlops convention) {
      return bench.tokens_per_second *
             train_flops_per_token(config.model, config.batch.seq, convention);
    };
    const double causal = flops(AttentionFlops::Causal), full = flops(AttentionFlops::Full);
    const PeakFlops peak = quick_peak_flops(run, ctx, full);
    remember_speed(run, bench.tokens_per_second);
    const int64_t ranks = config.system.ranks;
    fmt::print(
        "{} B {} T {} {} on {}, {}{} threads\n"
        "  step            {:.1f} ms (median of {})\n"
        "  throughput      {} tok/s{}\n"
        "  MFU             {}, causal\n"
        "                  {}, full attention\n"
        "  peak            {}\n"
        "  start           {:.2f} s to the first step, {:.2f} s to its end\n"
        "{}",
        config.preset, config.batch.micro_batch, config.batch.seq, name_of(config.train.precision),
        ctx.device, ranks == 1 ? "" : fmt::format("{} ranks, ", ranks), ctx.pool->num_threads(),
        bench.step_seconds * 1e3, steps, format_count(std::llround(bench.tokens_per_second)),
        ranks == 1 ? "" : " of all ranks", mfu_text(causal, peak), mfu_text(full, peak),
        text_of(peak), start, start + bench.first_step_seconds, memory_lines(bench));
    nlohmann::json line = {{"steps", steps},
                           {"deterministic", config.train.deterministic},
                           {"recompute", recompute_name(config)},
                           {"document_mask", config.train.document_mask},
                           {"ranks", ranks},
                           {"tok_s", bench.tokens_per_second},
                           {"step_ms", bench.step_seconds * 1e3},
                           {"peak_dtype", name_of(bench_dtype(ctx.device))},
                           {"start_s", start},
                           {"first_step_s", start + bench.first_step_seconds},
                           {"loss", bench.last_loss}};
    add_memory(line, bench);
    add_mfu(line, "mfu", causal, peak);
    add_mfu(line, "mfu_full", full, peak);
    line.update(facts_of(config, ctx));
    if (communicator) show_communicator(run, line);
    if (limit) {
      const StepLimit most = step_limit(ctx, run);
      const double all = static_cast<double>(ranks) * most.tokens_per_second;
      fmt::print("  limit           {} tok/s: this step reaches {} of it\n",
                 format_count(std::llround(all)), format_percent(bench.tokens_per_second / all));
      line["limit_tok_s"] = all;
    }
    return line;
  }

  void show_communicator(const ResolvedRun& run, nlohmann::json& line) const {
    const CommunicatorBench bench = bench_communicator(run, steps);
    fmt::print("  communicator    {:.1f} ms through one, {:.1f} ms without, in turns: {:+.2f} %\n",
               bench.through_seconds * 1e3, bench.plain_seconds * 1e3, 100 * bench.cost);
    line["communicator_step_ms"] = bench.through_seconds * 1e3;
    line["plain_step_ms"] = bench.plain_seconds * 1e3;
    line["communicator_cost"] = bench.cost;
  }

  // One line where all ranks take the same, which is what was predicted.
  static std::string memory_lines(const StepBench& bench) {
    std::string text;
    for (size_t rank = 0; rank < bench.memory.size(); ++rank) {
      const auto& [peak, predicted] = bench.memory[rank];
      const bool repeats = rank > 0 && peak == bench.memory[0].peak_bytes &&
                           predicted == bench.memory[0].predicted_bytes;
      if (repeats) continue;
      text += fmt::format("  memory          {} allocated, {} predicted{}\n", format_bytes(peak),
                          format_bytes(predicted),
                          bench.memory.size() == 1 ? "" : fmt::format(", rank {}", rank));
    }
    return text;
  }

  static void add_memory(nlohmann::json& line, const StepBench& bench) {
    line["peak_bytes"] = bench.memory[0].peak_bytes;
    line["predicted_bytes"] = bench.memory[0].predicted_bytes;
    for (const auto& [peak, predicted] : bench.memory)
      line["memory"].push_back({{"peak_bytes", peak}, {"predicted_bytes", predicted}});
  }
};

}  // namespace

void add_bench_train(Command& bench) {
  auto command = std::make_shared<BenchTrainCommand>();
  auto* train = bench.add_subcommand("train", "whole training steps on synthetic tokens");
  command->shape.add_to(*train);
  command->shape.add_ranks_to(*train);
  command->shape.add_recompute_to(*train);
  train->add_option("--steps", command->steps, "timed steps")->capture_default_str()->positive();
  train->add_flag("--limit", command->limit, "measure the limit too and say how close the step is");
  train->add_flag("--communicator", command->communicator,
                  "time one rank's steps also as the one rank of a communicator, in turns; takes "
                  "twice the memory");
  command->json.add_to(*train);
  train->callback([command] { command->run(); });
}

}  // namespace ingot::cli
