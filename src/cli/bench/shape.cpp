#include "cli/bench/shape.h"

#include "cli/start/processes.h"
#include "core/error/error.h"

namespace ingot::cli {
namespace {

void check_one_micro_batch(const RunConfig& config) {
  const BatchConfig& batch = config.batch;
  const int64_t most = batch.micro_batch * batch.seq * config.system.ranks;
  check(batch.tokens <= most, ErrorCode::Config,
        "a bench's step is one micro-batch a rank, of {} tokens together, got batch.tokens = {}: "
        "leave it out or raise batch.micro_batch",
        most, batch.tokens);
}

}  // namespace

void BenchShape::add_to(Command& command) {
  const auto add = [&](const char* setting, const char* name, auto& value, const char* help) {
    options.add(setting, command.add_option(name, value, help)->capture_default_str());
  };
  add("preset", "--preset", preset, "model preset");
  add("batch.micro_batch", "--batch", batch, "sequences a step and rank (B)");
  add("batch.seq", "--seq", seq, "tokens a sequence (T)");
  add("train.precision", "--precision", precision,
      "fp64, fp32, tf32, bf16, fp16 or fp8; auto = bf16 on a GPU, fp32 on the CPU");
  device.add_to(command, options);
  add_sets(command, sets, "any other setting");
}

void BenchShape::add_ranks_to(Command& command) {
  options.add("system.ranks",
              command.add_option("-n,--ranks", ranks, "local ranks, if no launcher starts them")
                  ->capture_default_str()
                  ->between(1, 256));
}

void BenchShape::add_recompute_to(Command& command) {
  options.add("train.recompute",
              command.add_option("--recompute", recompute, "none, selective or full")
                  ->capture_default_str());
}

ResolvedRun BenchShape::resolved() const {
  Overrides overrides = options.overrides(sets);
  overrides.insert(overrides.begin(), {{"train.recompute", recompute}, {"train.steps", "1"}});
  const RunConfig config = with_environment(parse_run_config("", "", overrides));
  ResolvedRun run = resolve_started(config);
  check_one_micro_batch(config);
  return run;
}

ResolvedRun BenchShape::resolved_alone() const {
  ResolvedRun run = resolved();
  check(run.config.system.ranks == 1, ErrorCode::Config,
        "a limit is of one rank, got system.ranks = {}: leave it out; `ingot bench comm` says how "
        "close collectives of several come to theirs",
        run.config.system.ranks);
  return run;
}

nlohmann::json facts_of(const RunConfig& config, const Context& ctx) {
  return {{"preset", config.preset},           {"batch", config.batch.micro_batch},
          {"seq", config.batch.seq},           {"precision", name_of(config.train.precision)},
          {"device", ctx.device.str()},        {"gpu", gpu_name(ctx.device)},
          {"threads", ctx.pool->num_threads()}};
}

void add_mfu(nlohmann::json& line, const std::string& name, double flops, const PeakFlops& peak) {
  line[name] = peak.datasheet > 0 ? nlohmann::json(flops / peak.datasheet) : nlohmann::json();
  line[name + "_measured"] = flops / peak.measured;
  line["peak_flops"] = peak.measured;
  line["peak_busy"] = peak.busy;
  line["peak_doubtful"] = peak.is_doubtful();
  line["datasheet_flops"] = peak.datasheet > 0 ? nlohmann::json(peak.datasheet) : nlohmann::json();
}

void check_has_limit(const RunConfig& config) {
  check(config.optim.kind == OptimKind::AdamW, ErrorCode::Config,
        "the limit counts AdamW's bytes and none of Muon's GEMMs: set optim.kind=adamw");
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

}  // namespace ingot::cli
