#include "spec/run/valid_config.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "core/error/error.h"
#include "core/error/log.h"
#include "spec/machine/gpu_peaks.h"
#include "spec/run/run_length.h"

namespace ingot {
namespace {

// The largest micro-batch up to that of the settings of which `tokens` are whole steps; 0: none.
int64_t fitting_micro_batch(const BatchConfig& b, const SystemConfig& s, int64_t tokens) {
  int64_t micro_batch = b.micro_batch;
  while (micro_batch > 0 && tokens % (micro_batch * b.seq * s.ranks) != 0) --micro_batch;
  return micro_batch;
}

// Every rank computes whole micro-batches, and the same number of them.
void check_whole_micro_steps(const BatchConfig& b, const SystemConfig& s, std::string_view name,
                             int64_t tokens) {
  const int64_t granule = b.micro_batch * b.seq * s.ranks;
  const int64_t below = tokens / granule * granule, above = below + granule;
  const int64_t fitting = fitting_micro_batch(b, s, tokens);
  check(tokens == below, ErrorCode::Config,
        "{} must be a multiple of micro_batch · seq · ranks = {} · {} · {} = {}, got {}: {}{}",
        name, b.micro_batch, b.seq, s.ranks, granule, tokens,
        below == 0 ? fmt::format("nearest is {}", above)
                   : fmt::format("nearest are {} and {}", below, above),
        fitting == 0 ? "" : fmt::format("; batch.micro_batch = {} keeps it", fitting));
}

void check_batch(const BatchConfig& b, const SystemConfig& s) {
  check_whole_micro_steps(b, s, "batch.tokens", b.tokens);
  check((b.ramp_start_tokens == 0) == (b.ramp_tokens == 0), ErrorCode::Config,
        "a batch-size ramp needs both batch.ramp_start_tokens and batch.ramp_tokens, got {} and "
        "{}: set both, or neither for no ramp",
        b.ramp_start_tokens, b.ramp_tokens);
  if (b.ramp_start_tokens == 0) return;
  check(b.tokens > 0, ErrorCode::Config,
        "a batch-size ramp needs batch.tokens, the tokens of a step at its end, got 0");
  check(b.ramp_start_tokens <= b.tokens, ErrorCode::Config,
        "batch.ramp_start_tokens: a ramp grows, so expected at most the {} tokens of a step, got "
        "{}",
        b.tokens, b.ramp_start_tokens);
  constexpr int64_t kMostStages = 65536;  // each of which is walked to know a run's length
  check(b.tokens / b.ramp_start_tokens <= kMostStages, ErrorCode::Config,
        "batch.ramp_start_tokens: a ramp has at most {} stages, so expected at least {}, got {}",
        kMostStages, b.tokens / kMostStages + 1, b.ramp_start_tokens);
  check_whole_micro_steps(b, s, "batch.ramp_start_tokens", b.ramp_start_tokens);
}

bool says_when_to_stop(const TrainConfig& t) {
  return t.total_tokens > 0 || t.steps > 0;
}

// Of two settings that say `what` in two ways, one is set; --set of either overrides a recipe's
// other.
void check_either(std::string_view one, double a, std::string_view other, double b,
                  std::string_view what) {
  check(a == 0 || b == 0, ErrorCode::Config,
        "{} ({}) and {} ({}) both say {}: leave one out, or where both stand in the recipe add "
        "--set {}={}",
        one, a, other, b, what, other, b);
}

// Warm-up and decay must fit into the run; what does not is told with a length that would.
void check_schedule_fits(const RunConfig& c) {
  const ScheduleConfig s = resolved_schedule(c);
  const bool in_tokens = s.unit == ScheduleUnit::Tokens;
  const Horizon horizon = horizon_of(c);
  const int64_t length = in_tokens ? horizon.tokens : horizon.steps;
  if (s.warmup + s.decay <= length) return;
  std::vector<std::string> sets;
  const auto shorten = [&](std::string_view name, int64_t part, double fraction) {
    if (part > 0)
      sets.push_back(fmt::format("--set optim.schedule.{}_fraction={}", name, fraction));
  };
  // A decay that fits stays as it is, if it leaves room to warm up.
  if (s.decay > length * 9 / 10) shorten("decay", s.decay, 0.2);
  shorten("warmup", s.warmup, 0.05);
  throw Error(
      ErrorCode::Config,
      fmt::format("optim.schedule: warmup {} and decay {} must fit into the run's {} {}: "
                  "add {}, or train longer",
                  s.warmup, s.decay, length, in_tokens ? "tokens" : "steps", fmt::join(sets, " ")));
}

void check_schedule(const RunConfig& c) {
  const ScheduleConfig& s = c.optim.schedule;
  check_either("optim.schedule.warmup", static_cast<double>(s.warmup),
               "optim.schedule.warmup_fraction", s.warmup_fraction, "how long to warm up");
  check_either("optim.schedule.decay", static_cast<double>(s.decay),
               "optim.schedule.decay_fraction", s.decay_fraction, "how long to decay");
  const bool decays = s.decay > 0 || s.decay_fraction > 0;
  check(s.kind != ScheduleKind::Wsd || decays, ErrorCode::Config,
        "optim.schedule.kind wsd ends in a decay: set optim.schedule.decay to its length, or "
        "optim.schedule.decay_fraction");
  check(s.kind == ScheduleKind::Wsd || !decays, ErrorCode::Config,
        "optim.schedule.decay belongs to kind wsd: set it to 0 or the kind to wsd, got {}",
        s.decay > 0 ? static_cast<double>(s.decay) : s.decay_fraction);
  if (says_when_to_stop(c.train)) check_schedule_fits(c);
}

void check_muon(const RunConfig& c) {
  if (c.optim.kind != OptimKind::Muon) return;
  check(c.optim.lr > 0, ErrorCode::Config,
        "optim.kind muon follows the schedule of optim.lr: expected it above 0, got {}; set "
        "optim.muon_lr for the matrices",
        c.optim.lr);
}

// The CPU updates with its own ops: GEMMs would be too slow, and it has no weights in F16.
void check_offload(const RunConfig& c) {
  if (!c.system.offload_optimizer) return;
  check(c.optim.kind == OptimKind::AdamW, ErrorCode::Config,
        "system.offload_optimizer updates with adamw, got optim.kind muon, whose GEMMs need the "
        "GPU: set one of them otherwise");
  check(c.train.precision != Precision::Fp16, ErrorCode::Config,
        "system.offload_optimizer keeps weights in fp32 or bf16, got train.precision fp16: use "
        "bf16");
}

void check_layout(const RunConfig& c) {
  const SystemConfig& s = c.system;
  check(
      s.data_parallel != DataParallel::Replicated || s.shard_ranks == 0, ErrorCode::Config,
      "system.shard_ranks says how many ranks share a copy, and replicated ones share nothing, got "
      "{}: set system.data_parallel to zero1, zero2 or fully_sharded, or it to 0",
      s.shard_ranks);
  check(s.shard_ranks == 0 || s.ranks % s.shard_ranks == 0, ErrorCode::Config,
        "system.shard_ranks: expected a divisor of system.ranks = {}, got {}", s.ranks,
        s.shard_ranks);
  const bool fully = s.data_parallel == DataParallel::FullySharded;
  check(
      s.reshard || fully, ErrorCode::Config,
      "system.reshard=false belongs to system.data_parallel=fully_sharded: other ranks have whole "
      "weights anyway; leave it out");
  check(s.data_parallel != DataParallel::Zero2 || s.gradient_sync == GradientSync::MicroStep,
        ErrorCode::Config,
        "system.data_parallel zero2 shares gradients, so they are reduced in every micro-step, got "
        "system.gradient_sync step: leave it out, or use zero1");
}

void check_reduce_dtype(const RunConfig& c) {
  const Precision p = c.train.precision;
  check(c.system.reduce_dtype == DType::F32 || p == Precision::Auto || p == Precision::Bf16 ||
            p == Precision::Fp8,
        ErrorCode::Config,
        "system.reduce_dtype bf16 is for runs that compute in bf16 or fp8, got train.precision {}: "
        "use fp32",
        name_of(p));
}

void check_precision(const RunConfig& c) {
  check(!c.train.fp8_head || uses_fp8(c), ErrorCode::Config,
        "train.fp8_head belongs to train.precision fp8, got {}: set it to false or the precision "
        "to fp8",
        name_of(c.train.precision));
  check(c.train.precision != Precision::Fp64 || c.optim.moments == DType::F32, ErrorCode::Config,
        "train.precision fp64 keeps moments in fp64 too, got optim.moments bf16: leave it out, or "
        "use fp32");
}

void check_activations(const RunConfig& c) {
  const auto within = [&](std::string_view name, int64_t layers) {
    check(layers <= c.model.layers, ErrorCode::Config,
          "{}: expected at most the model's {} layers, got {}", name, c.model.layers, layers);
  };
  const TrainConfig& t = c.train;
  within("train.keep_layers", t.keep_layers);
  within("train.offload_layers", t.offload_layers);
  check(t.keep_layers == 0 || t.offload_layers == 0, ErrorCode::Config,
        "train.keep_layers spends memory and train.offload_layers saves it, got {} and {}: set one "
        "of them to 0",
        t.keep_layers, t.offload_layers);
}

// 8-bit GEMMs need extents of whole vectors.
void check_fp8(const RunConfig& c) {
  if (!uses_fp8(c)) return;
  const auto whole = [](std::string_view name, int64_t extent) {
    check(extent % 16 == 0, ErrorCode::Config,
          "train.precision fp8 needs {} to be a multiple of 16, got {}: change it or use bf16",
          name, extent);
  };
  const ModelConfig& m = c.model;
  whole("model.dim", m.dim);
  whole("model.heads · model.head_dim", m.heads * m.head_dim);
  whole("model.kv_heads · model.head_dim", m.kv_heads * m.head_dim);
  whole("model.ffn", m.ffn);
  whole("batch.micro_batch · batch.seq", c.batch.micro_batch * c.batch.seq);
  if (!c.train.fp8_head) return;
  whole("model.vocab (train.fp8_head)", m.vocab);
  whole("train.loss_chunk", c.train.loss_chunk);
}

// All rules but that something says when to stop.
void check_rules(const RunConfig& c) {
  check(c.preset != kNoPreset || !c.train.init.empty(), ErrorCode::Config,
        "preset = \"none\" takes the model of train.init, which is not set: set it, or a preset");
  validate(c.model);
  check(
      c.batch.seq <= c.model.context, ErrorCode::Config,
      "batch.seq is beyond the model's context: expected at most model.context = {}, got {}; lower "
      "batch.seq or raise model.context",
      c.model.context, c.batch.seq);
  check_batch(c.batch, c.system);
  check(!c.checkpoint.dir.empty(), ErrorCode::Config,
        "checkpoint.dir is empty: set it to the folder that the run is to write");
  check_either("train.total_tokens", static_cast<double>(c.train.total_tokens), "train.steps",
               static_cast<double>(c.train.steps), "when to stop");
  check_schedule(c);
  check_layout(c);
  check_reduce_dtype(c);
  check_muon(c);
  check_offload(c);
  check_precision(c);
  check_activations(c);
  check_fp8(c);
  if (c.system.peak_tflops > 0) check_dense_peak(c.system.peak_tflops, "", c.train.precision);
  if (log::is_verbose())
    log::debug("settings_checked", {{"hash", fmt::format("{:016x}", config_hash(c))}});
}

}  // namespace

ValidConfig::ValidConfig(RunConfig config) : config_(std::move(config)) {
  check_rules(config_);
  check(says_when_to_stop(config_.train), ErrorCode::Config,
        "nothing says when to stop: set train.total_tokens or train.steps");
}

ValidConfig ValidConfig::open_ended(RunConfig config) {
  check_rules(config);
  return {std::move(config), Checked()};
}

// Every other rule on precision holds for fp32 and bf16 where it holds for `auto`.
ValidConfig ValidConfig::with_precision(Precision decided) const {
  RunConfig config = config_;
  config.train.precision = decided;
  check_reduce_dtype(config);
  return {std::move(config), Checked()};
}

bool may_change_on_resume(std::string_view setting) {
  RunConfig any;
  const std::string_view name = setting.substr(0, setting.find(' '));
  const std::vector<Setting> all = settings_of(any);
  const auto found = std::ranges::find(all, name, &Setting::name);
  check(found != all.end(), ErrorCode::Internal, "no setting is declared as {}", name);
  return found->scope != SettingScope::Fixed;
}

}  // namespace ingot
