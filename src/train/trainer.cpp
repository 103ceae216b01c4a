#include "train/trainer.h"

#include <algorithm>
#include <chrono>

#include "core/error.h"
#include "core/thread_pool.h"
#include "feed/loader.h"
#include "feed/prefetch.h"
#include "feed/token_counts.h"
#include "ledger/ledger.h"
#include "spec/step_walk.h"
#include "train/engine.h"
#include "train/evaluate.h"
#include "train/prepare.h"
#include "train/run_folder.h"

namespace ingot {
namespace {

static_assert(kPaddedTarget == kNoTarget, "the loader masks targets as the model expects");

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// What the ranks of a run share; everything but `ledger` is read-only once they start.
struct Run : PreparedRun {
  std::shared_ptr<Storage> storage;
  TrainOptions options;
  std::unique_ptr<RunFolder> folder;  // rank 0 only, as what follows
  std::unique_ptr<LedgerWriter> ledger;
  std::string tokenizer;  // as checkpoints keep it; empty for bytes
};

// One rank's walk through the run.
class RankTrainer {
 public:
  RankTrainer(Run& run, World& world)
      : run_(run),
        config_(run.config),
        world_(world),
        engine_(run.config, world, run.threads_per_rank, run.resume_from.has_value()),
        loader_(*run.data.train, config_.train.document_mask),
        walk_(step_rules(config_)) {}

  TrainResult run() {
    restore_or_init();
    begin();
    announce();
    prefetch();
    while (!walk_.at_end() && !result_.stopped) {
      step();
      if (!result_.stopped && is_due(config_.train.eval_every)) evaluate();
      if (result_.stopped || save_asked_ || is_due(config_.checkpoint.every)) {
        save();
        // Asked meanwhile: what was saved is the newest there is.
        if (!result_.stopped) result_.stopped = control().any("stop", is_stop_asked());
      }
    }
    if (!result_.stopped) finish();
    result_.state = state_;
    result_.counts = counts_;
    return result_;
  }

 private:
  bool leads() const { return world_.rank() == 0; }
  Control& control() { return world_.control(); }
  bool is_due(int64_t every) const {
    return every > 0 && state_.step % every == 0 && !walk_.at_end();
  }

  bool is_stop_asked() const {
    return run_.options.stop && run_.options.stop->load(std::memory_order_relaxed);
  }
  bool take_save_request() const {
    return leads() && run_.options.save && run_.options.save->exchange(false);
  }

  void restore_or_init() {
    if (run_.resume_from) {
      const CheckpointReader reader(run_.storage, *run_.resume_from);
      state_ = load_checkpoint(reader, engine_.parameters(), engine_.store());
      result_.train_loss = state_.last_loss;
      result_.checkpoint = *run_.resume_from;
      if (state_.loss_scale) engine_.set_loss_scale(*state_.loss_scale);
      engine_.set_fp8_scales(state_.fp8_scales);
    } else {
      engine_.init(static_cast<uint64_t>(config_.train.seed));
    }
    walk_ = StepWalk(step_rules(config_), {state_.step, state_.tokens}, state_.samples);
    counts_ = count_tokens(*run_.data.train, 0, state_.samples);
    state_.loss_scale = engine_.loss_scale();
    state_.data = to_json(run_.data.identity).dump();
  }

  void prefetch() {
    batches_.emplace(loader_, config_.batch.micro_batch,
                     [walk = RankWalk(walk_, world_.rank())]() mutable { return walk.next(); });
  }

  // Only when every rank has its memory: a refused run leaves nothing behind.
  void begin() {
    control().barrier("begin");
    if (!leads()) return;
    run_.folder->begin(run_.config);
    run_.ledger = std::make_unique<LedgerWriter>(run_.storage,
                                                 join_path(config_.checkpoint.dir, kRunLedgerName));
  }

  void announce() {
    if (!leads()) return;
    RunFacts facts;
    facts.run_dir = config_.checkpoint.dir;
    facts.train_data = run_.data.train->describe();
    facts.valid_data = run_.data.valid->describe();
    facts.parameters = parameter_count(config_.model);
    facts.total_steps = run_.horizon.steps;
    facts.total_tokens = run_.horizon.tokens;
    facts.epochs = epochs_of(run_.data, run_.horizon.tokens / config_.batch.seq);
    facts.predicted_bytes = plan_memory(train_table(engine_.context(), config_)).total_bytes;
    facts.allocated_bytes = engine_.placed().allocated_bytes();
    facts.first_step = state_.step;
    facts.device = device_text(engine_.context().device);
    facts.precision = name_of(config_.train.precision);
    facts.ranks = world_.size();
    facts.threads = run_.threads_per_rank * world_.size();
    nlohmann::json record = {{"kind", "start"},
                             {"step", state_.step},
                             {"samples", state_.samples},
                             {"config_hash", fmt::format("{:016x}", config_hash(run_.config))},
                             {"config", to_toml(run_.config)},
                             {"data_hash", fmt::format("{:016x}", run_.data.identity.hash())},
                             {"data", to_json(run_.data.identity)},
                             {"device", facts.device},
                             {"precision", facts.precision},
                             {"ranks", world_.size()},
                             {"bytes", facts.allocated_bytes}};
    record.update(to_json(counts_));
    run_.ledger->append(record);
    if (run_.options.observer) run_.options.observer->on_start(facts);
  }

  void step() {
    if (leads()) run_.folder->check_held();
    const auto start = Clock::now();
    const StepPlan plan = walk_.next();
    const TokenCounts taken = count_tokens(*run_.data.train, plan.first_sample, plan.end_sample);
    const auto targets = static_cast<double>(taken.trained);

    engine_.start_step();
    for (int64_t micro = 0; micro < plan.num_micro_steps; ++micro) {
      const int64_t position = plan.sample_of(micro, world_.rank());
      const Batch& batch = batches_->next();
      check(batch.counter == position, ErrorCode::Internal, "samples at {}: expected those at {}",
            batch.counter, position);
      const MicroBatch micro_batch{
          batch.tokens.data(), batch.targets.data(),
          batch.document_start.empty() ? nullptr : batch.document_start.data()};
      engine_.accumulate(micro_batch, 1.0 / targets, (micro + 1) * granule >= tokens);
    }
    engine_.update(plan.lr, plan.step);
    const UpdateReport update = engine_.take_report();

    // One small meeting carries the loss and what was asked for from outside, so that all ranks
    // stop or save after the same step.
    double shared[3] = {engine_.take_loss(), is_stop_asked() ? 1.0 : 0.0,
                        take_save_request() ? 1.0 : 0.0};
    control().sum("step", shared);

    walk_.advance();
    state_.step = walk_.at().step;
    state_.tokens = walk_.at().tokens;
    state_.samples = walk_.samples();
    counts_ += taken;
    state_.last_loss = shared[0] / targets;
    result_.train_loss = state_.last_loss;
    result_.stopped = shared[1] > 0 && !walk_.at_end();
    save_asked_ = shared[2] > 0;
    if (leads()) report_step(plan, update, seconds_since(start));
    state_.loss_scale = engine_.loss_scale();
  }

  // With state_.loss_scale as it was during the step.
  void report_step(const StepPlan& plan, const UpdateReport& update, double seconds) {
    nlohmann::json record = {{"kind", "step"},
                             {"step", state_.step},
                             {"loss", state_.last_loss},
                             {"lr", plan.lr},
                             {"grad_norm", update.grad_norm},
                             {"tokens", state_.tokens},
                             {"samples", {plan.first_sample, plan.end_sample}},
                             {"seconds", seconds}};
    record.update(to_json(counts_));
    if (state_.loss_scale) {
      record["loss_scale"] = state_.loss_scale->scale;
      record["skipped"] = update.skipped;
    }
    run_.ledger->append(record);
    if (!run_.options.observer) return;
    StepReport report;
    report.step = state_.step;
    report.total_steps = run_.horizon.steps;
    report.tokens = state_.tokens;
    report.total_tokens = run_.horizon.tokens;
    report.counts = counts_;
    report.loss = state_.last_loss;
    report.lr = plan.lr;
    report.grad_norm = update.grad_norm;
    if (state_.loss_scale) report.loss_scale = state_.loss_scale->scale;
    report.skipped = update.skipped;
    report.step_seconds = seconds;
    report.tokens_per_second = static_cast<double>(plan.tokens) / seconds;
    run_.options.observer->on_step(report);
  }

  void evaluate() {
    const auto measured =
        evaluate_loss(engine_, control(), *run_.data.valid, config_, run_.options.stop);
    result_.stopped = !measured;
    if (!measured) return;
    EvalReport report = *measured;
    report.step = state_.step;
    result_.eval = report;
    if (!leads()) return;
    nlohmann::json record = {
        {"kind", "eval"}, {"step", report.step}, {"loss", report.loss}, {"tokens", report.tokens}};
    if (report.bits_per_byte) record["bits_per_byte"] = *report.bits_per_byte;
    run_.ledger->append(record);
    if (run_.options.observer) run_.options.observer->on_eval(report);
  }

  void save() {
    state_.fp8_scales = engine_.fp8_scales();
    if (leads()) run_.folder->check_held_now();
    result_.checkpoint =
        save_checkpoint(*run_.storage, control(), config_.checkpoint.dir, run_.config, state_,
                        engine_.parameters(), engine_.store(), run_.tokenizer);
    if (!leads()) return;
    run_.folder->check_held_now();  // saving would make a removed folder again
    run_.ledger->append(
        {{"kind", "checkpoint"}, {"step", state_.step}, {"dir", result_.checkpoint}});
    run_.ledger->sync();
    retain_checkpoints(run_.storage, config_.checkpoint.dir, config_.checkpoint.keep);
    if (run_.options.observer) run_.options.observer->on_checkpoint(result_.checkpoint);
  }

  void finish() {
    evaluate();
    save();
    if (leads() && !result_.stopped) run_.ledger->append({{"kind", "end"}, {"step", state_.step}});
  }

  Run& run_;
  RunConfig config_;
  World& world_;
  Engine engine_;
  Loader loader_;
  StepWalk walk_;
  RunState state_;
  TokenCounts counts_;
  TrainResult result_;
  bool save_asked_ = false;  // after this step, by options.save
  std::optional<Prefetcher> batches_;
};

}  // namespace

TrainResult train(std::shared_ptr<Storage> storage, const RunConfig& config,
                  const TrainOptions& options) {
  validate(config);
  auto folder = std::make_unique<RunFolder>(storage, config.checkpoint.dir);
  Run run{prepare_run(storage, config, options), storage, options, std::move(folder), nullptr, ""};
  if (run.data.tokenizer->kind() != "byte") run.tokenizer = run.data.tokenizer->serialize();

  TrainResult result;
  const auto ranks = static_cast<int>(config.system.ranks);
  run_local_ranks(ranks, run_device(config), [&](World& world) {
    TrainResult own = RankTrainer(run, world).run();
    if (world.rank() == 0) result = std::move(own);
  });
  return result;
}

}  // namespace ingot
