// ingot bench limit
#include <fmt/format.h>

#include <memory>

#include "cli/bench/shape.h"
#include "core/text/format.h"
#include "spec/model/flops.h"

namespace ingot::cli {
namespace {

void run_limit(const BenchShape& shape, const JsonOption& json) {
  const ResolvedRun run = shape.resolved_alone();
  const RunConfig& config = run.config;
  check_has_limit(config);
  const auto compute = open_device(run);
  Context& ctx = compute->context();
  const StepLimit limit = step_limit(ctx, run);
  const double flops =
      limit.tokens_per_second *
      train_flops_per_token(config.model, config.batch.seq, AttentionFlops::Causal);
  const PeakFlops peak = quick_peak_flops(run, ctx, flops);
  nlohmann::json parts = nlohmann::json::array();
  fmt::print("{:<28}{:>7}{:>12}{:>12}{:>10}\n", "part", "calls", "ms a step", "GFLOP/s", "GB/s");
  for (const LimitPart& part : limit.parts) {
    fmt::print("{:<28}{:>7}{:>12.2f}{:>12}{:>10}\n", part.name, part.calls, part.seconds * 1e3,
               part.flops > 0 ? fmt::format("{:.1f}", part.flops / part.seconds / 1e9) : "",
               part.bytes > 0 ? fmt::format("{:.1f}", part.bytes / part.seconds / 1e9) : "");
    parts.push_back({{"name", part.name},
                     {"calls", part.calls},
                     {"ms", part.seconds * 1e3},
                     {"flops", part.flops},
                     {"bytes", part.bytes}});
  }
  fmt::print(
      "GEMMs and attention {:.1f} ms at {} of the machine's GEMM rate ({:.0f} GFLOP/s), "
      "bytes {:.1f} ms at {:.1f} GB/s\nlimit {} tok/s, MFU {}; peak {}\n",
      limit.gemm_seconds * 1e3, format_percent(limit.gemm_share), limit.peak_flops / 1e9,
      limit.memory_seconds * 1e3, limit.copy_bytes_per_second / 1e9,
      format_count(std::llround(limit.tokens_per_second)), mfu_text(flops, peak), text_of(peak));
  nlohmann::json line = {{"limit_tok_s", limit.tokens_per_second},
                         {"gemm_ms", limit.gemm_seconds * 1e3},
                         {"memory_ms", limit.memory_seconds * 1e3},
                         {"gemm_share", limit.gemm_share},
                         {"copy_bytes_s", limit.copy_bytes_per_second},
                         {"moments", name_of(config.optim.moments)},
                         {"parts", parts}};
  add_mfu(line, "mfu", flops, peak);
  line.update(facts_of(config, ctx));
  json.print(line);
}

}  // namespace

void add_bench_limit(Command& bench) {
  struct Options {
    BenchShape shape;
    JsonOption json;
  };
  auto options = std::make_shared<Options>();
  auto* limit = bench.add_subcommand(
      "limit", "the fastest this step could be: GEMMs and attention alone + bytes at copy speed");
  options->shape.add_to(*limit);
  options->json.add_to(*limit);
  limit->callback([options] { run_limit(options->shape, options->json); });
}

}  // namespace ingot::cli
