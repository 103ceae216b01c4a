// ingot bench ops | train | limit | encode
#include "cli/bench/bench.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "cli/command.h"
#include "cli/speed_record.h"
#include "core/error.h"
#include "core/text/format.h"
#include "plan/resolve.h"
#include "probe/measure.h"
#include "probe/op_case.h"
#include "probe/step_limit.h"
#include "spec/flops.h"
#include "train/bench_step.h"

namespace ingot::cli {
namespace {

// The shape a bench runs, from flags or from any setting by --set.
struct BenchShape {
  std::string preset = "llama_10m";
  int64_t batch = 8;
  int64_t seq = 512;
  std::string precision = "auto";
  std::string recompute = "selective";
  DeviceOptions device;
  std::vector<std::string> sets;

  void add_to(Command& command) {
    command.add_option("--preset", preset, "model preset")->capture_default_str();
    command.add_option("--batch", batch, "sequences a step (B)")->capture_default_str();
    command.add_option("--seq", seq, "tokens a sequence (T)")->capture_default_str();
    command
        .add_option("--precision", precision,
                    "fp64, fp32, tf32, bf16, fp16 or fp8; auto = bf16 on a GPU, fp32 on the CPU")
        ->capture_default_str();
    device.add_to(command);
    add_sets(command, sets, "any other setting");
  }

  ResolvedRun resolved() const {
    Overrides overrides = {{"preset", preset},
                           {"batch.micro_batch", std::to_string(batch)},
                           {"batch.seq", std::to_string(seq)},
                           {"train.precision", precision},
                           {"train.recompute", recompute},
                           {"train.steps", "1"},
                           {"system.device", device.device},
                           {"system.threads", std::to_string(device.threads)}};
    for (auto& override : parse_sets(sets)) overrides.push_back(std::move(override));
    RunConfig config = with_environment(parse_run_config("", "", overrides));
    validate(config);
    check_one_micro_batch(config);
    return resolve_here(config);
  }

 private:
  static void check_one_micro_batch(const RunConfig& config) {
    const BatchConfig& batch = config.batch;
    check(
        config.system.ranks == 1, ErrorCode::Config,
        "a bench runs one rank, got system.ranks = {}: leave it out; `ingot train` says the tok/s "
        "of several",
        config.system.ranks);
    check(batch.tokens <= batch.micro_batch * batch.seq, ErrorCode::Config,
          "a bench's step is one micro-batch of {} tokens, got batch.tokens = {}: leave it out or "
          "raise batch.micro_batch",
          batch.micro_batch * batch.seq, batch.tokens);
  }
};

// What a figure belongs to.
nlohmann::json facts_of(const RunConfig& config, const Context& ctx) {
  return {{"preset", config.preset},           {"batch", config.batch.micro_batch},
          {"seq", config.batch.seq},           {"precision", name_of(config.train.precision)},
          {"device", ctx.device.str()},        {"gpu", gpu_name(ctx.device)},
          {"threads", ctx.pool->num_threads()}};
}

std::string recompute_name(RunConfig config) {
  const std::vector<Setting> settings = settings_of(config);
  const auto recompute = std::ranges::find(settings, "train.recompute", &Setting::name);
  return std::get<std::string>(recompute->get());
}

void check_has_limit(const RunConfig& config) {
  check(config.optim.kind == OptimKind::AdamW, ErrorCode::Config,
        "the limit counts AdamW's bytes and none of Muon's products: set optim.kind=adamw");
  check(!config.train.document_mask, ErrorCode::Config,
        "the limit counts attention over whole sequences: set train.document_mask=false");
  check(config.train.precision != Precision::Fp64, ErrorCode::Config,
        "the limit is of kernels made for speed, and those of fp64 are made to compare with: set "
        "train.precision=fp32");
}

StepLimit step_limit(Context& ctx, const ResolvedRun& run) {
  const RunConfig& config = run.config;
  ctx.tf32 = uses_tf32(config);
  LimitShape shape;
  shape.B = config.batch.micro_batch;
  shape.T = config.batch.seq;
  shape.loss_chunk = config.train.loss_chunk;
  shape.compute = run.shape.compute;
  if (shape.compute == DType::F16) shape.compute = DType::BF16;  // tensor cores are as fast
  shape.fp8 = uses_fp8(config);
  shape.fp8_head = config.train.fp8_head;
  shape.optim = config.optim;
  return measure_step_limit(ctx, config.model, shape);
}

// NAME: of the data sheet's peak, null where none is known; NAME_measured: of the measured one.
void add_mfu(nlohmann::json& line, const std::string& name, double flops, const PeakFlops& peak) {
  line[name] = peak.datasheet > 0 ? nlohmann::json(flops / peak.datasheet) : nlohmann::json();
  line[name + "_measured"] = flops / peak.measured;
  line["peak_flops"] = peak.measured;
  line["datasheet_flops"] = peak.datasheet > 0 ? nlohmann::json(peak.datasheet) : nlohmann::json();
}

void run_train(const BenchShape& shape, int64_t steps, bool with_limit, const JsonOption& json) {
  const ResolvedRun run = shape.resolved();
  const RunConfig& config = run.config;
  if (with_limit) check_has_limit(config);
  const double before_engine = seconds_since_process_start();
  const StepBench bench = bench_train_step(run, steps);
  const auto compute = open_device(run);
  Context& ctx = compute->context();
  const PeakFlops peak = quick_peak_flops(run, ctx);
  const auto flops = [&](AttentionFlops convention) {
    return bench.tokens_per_second *
           train_flops_per_token(config.model, config.batch.seq, convention);
  };
  const double causal = flops(AttentionFlops::Causal), full = flops(AttentionFlops::Full);
  remember_speed(run, bench.tokens_per_second);
  const double start = before_engine + bench.setup_seconds;
  fmt::print(
      "{} B {} T {} {} on {}, {} threads\n"
      "  step            {:.1f} ms (median of {})\n"
      "  throughput      {} tok/s\n"
      "  MFU             {}, causal\n"
      "                  {}, full attention\n"
      "  peak            {}\n"
      "  start           {:.2f} s to the first step, {:.2f} s to its end\n"
      "  memory          {} allocated, {} predicted\n",
      config.preset, config.batch.micro_batch, config.batch.seq, name_of(config.train.precision),
      ctx.device, ctx.pool->num_threads(), bench.step_seconds * 1e3, steps,
      format_count(std::llround(bench.tokens_per_second)), mfu_text(causal, peak),
      mfu_text(full, peak), text_of(peak), start, start + bench.first_step_seconds,
      format_bytes(bench.peak_bytes), format_bytes(bench.predicted_bytes));
  nlohmann::json line = {{"steps", steps},
                         {"deterministic", config.train.deterministic},
                         {"recompute", recompute_name(config)},
                         {"document_mask", config.train.document_mask},
                         {"tok_s", bench.tokens_per_second},
                         {"step_ms", bench.step_seconds * 1e3},
                         {"peak_dtype", name_of(bench_dtype(ctx.device))},
                         {"start_s", start},
                         {"first_step_s", start + bench.first_step_seconds},
                         {"peak_bytes", bench.peak_bytes},
                         {"predicted_bytes", bench.predicted_bytes},
                         {"loss", bench.last_loss}};
  add_mfu(line, "mfu", causal, peak);
  add_mfu(line, "mfu_full", full, peak);
  line.update(facts_of(config, ctx));
  if (with_limit) {
    const StepLimit limit = step_limit(ctx, run);
    fmt::print("  limit           {} tok/s: this step reaches {} of it\n",
               format_count(std::llround(limit.tokens_per_second)),
               format_percent(bench.tokens_per_second / limit.tokens_per_second));
    line["limit_tok_s"] = limit.tokens_per_second;
  }
  json.print(line);
}

void run_limit(const BenchShape& shape, const JsonOption& json) {
  const ResolvedRun run = shape.resolved();
  const RunConfig& config = run.config;
  check_has_limit(config);
  const auto compute = open_device(run);
  Context& ctx = compute->context();
  const StepLimit limit = step_limit(ctx, run);
  const PeakFlops peak = quick_peak_flops(run, ctx);
  const double flops =
      limit.tokens_per_second *
      train_flops_per_token(config.model, config.batch.seq, AttentionFlops::Causal);
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
      "products and attention {:.1f} ms at {} of the machine's product rate ({:.0f} GFLOP/s), "
      "bytes {:.1f} ms at {:.1f} GB/s\nlimit {} tok/s, MFU {}; peak {}\n",
      limit.product_seconds * 1e3, format_percent(limit.product_share), limit.peak_flops / 1e9,
      limit.memory_seconds * 1e3, limit.copy_bytes_per_second / 1e9,
      format_count(std::llround(limit.tokens_per_second)), mfu_text(flops, peak), text_of(peak));
  nlohmann::json line = {{"limit_tok_s", limit.tokens_per_second},
                         {"product_ms", limit.product_seconds * 1e3},
                         {"memory_ms", limit.memory_seconds * 1e3},
                         {"product_share", limit.product_share},
                         {"copy_bytes_s", limit.copy_bytes_per_second},
                         {"moments", name_of(config.optim.moments)},
                         {"parts", parts}};
  add_mfu(line, "mfu", flops, peak);
  line.update(facts_of(config, ctx));
  json.print(line);
}

}  // namespace

void add_bench_ops(Command& bench) {
  struct Options {
    std::string only;
    DeviceOptions device;
    JsonOption json;
  };
  auto options = std::make_shared<Options>();
  auto* ops =
      bench.add_subcommand("ops", "each op at a training step's shape, percent of roofline");
  ops->add_option("--op", options->only, "only this op");
  options->device.add_to(*ops);
  options->json.add_to(*ops);
  ops->callback([options] { bench_ops(options->only, options->device, options->json); });
}

void add_bench_train(Command& bench) {
  struct Options {
    BenchShape shape;
    int64_t steps = 8;
    bool limit = false;
    JsonOption json;
  };
  auto options = std::make_shared<Options>();
  auto* train = bench.add_subcommand("train", "whole training steps on synthetic tokens");
  options->shape.add_to(*train);
  train->add_option("--recompute", options->shape.recompute, "none, selective or full")
      ->capture_default_str();
  train->add_option("--steps", options->steps, "timed steps")->capture_default_str()->positive();
  train->add_flag("--limit", options->limit, "measure the limit too and say how close this is");
  options->json.add_to(*train);
  train->callback(
      [options] { run_train(options->shape, options->steps, options->limit, options->json); });
}

void add_bench_limit(Command& bench) {
  struct Options {
    BenchShape shape;
    JsonOption json;
  };
  auto options = std::make_shared<Options>();
  auto* limit = bench.add_subcommand(
      "limit",
      "the fastest this step could be: products and attention alone + bytes at copy speed");
  options->shape.add_to(*limit);
  options->json.add_to(*limit);
  limit->callback([options] { run_limit(options->shape, options->json); });
}

}  // namespace ingot::cli
