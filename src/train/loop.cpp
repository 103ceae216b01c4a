#include "train/loop.h"

#include <algorithm>
#include <chrono>

#include "core/error/error.h"
#include "core/error/log.h"
#include "core/text/hex.h"
#include "feed/token_counts.h"
#include "plan/train_table.h"
#include "spec/model/flops.h"
#include "spec/run/run_id.h"
#include "train/hooks/policies.h"
#include "train/hooks/tasks.h"
#include "train/hooks/weight_check.h"
#include "train/records/ledger_sink.h"
#include "train/step/not_finite.h"

namespace ingot {
namespace {

static_assert(kPaddedTarget == kNoTarget, "the loader masks targets as the model expects");

bool is_set(const std::atomic<bool>* flag) {
  return flag != nullptr && flag->load(std::memory_order_relaxed);
}

}  // namespace

Loop::Loop(const SharedRun& shared, World& world, FaultRecord& faults)
    : shared_(shared),
      resolved_(shared.prepared.resolved),
      world_(world),
      faults_(faults),
      engine_(resolved_, world),
      loader_(*shared.prepared.data.train, resolved_.config.train.document_mask),
      sections_(engine_.sections()),
      save_clock_(resolved_.config.checkpoint.minutes, std::chrono::steady_clock::now()),
      flops_per_token_(train_flops_per_token(resolved_.config.model, resolved_.config.batch.seq,
                                             AttentionFlops::Causal)) {
  sections_.push_back(&rate_);
  const TrainOptions& options = shared.options;
  policies_.push_back(std::make_unique<StopWhenAsked>());
  policies_.push_back(std::make_unique<FiniteGradients>(engine_.loss_scale().has_value(),
                                                        [this] { return first_not_finite(); }));
  if (options.policies) std::ranges::move(options.policies(), std::back_inserter(policies_));
  tasks_.push_back(std::make_unique<WeightCheckTask>(resolved_.config.train.check_weights_every));
  if (shared.prepared.data.valid) {
    auto evaluate = std::make_unique<EvaluateTask>(resolved_.config.train.eval_every, options.stop);
    sections_.push_back(evaluate.get());
    tasks_.push_back(std::move(evaluate));
  }
  if (resolved_.scoring) {
    auto score = std::make_unique<ScoreTask>(resolved_.config.train.eval_tasks_every, options.stop);
    sections_.push_back(score.get());
    tasks_.push_back(std::move(score));
  }
  tasks_.push_back(std::make_unique<SaveTask>(
      SaveTask::Options{.storage = shared.storage,
                        .every = resolved_.config.checkpoint.every,
                        .auxiliary_files = shared.prepared.auxiliary_files,
                        .folder = &shared.folder,
                        .clock = &save_clock_,
                        .stop = options.stop}));
}

TrainResult Loop::go() {
  try {
    run();
  } catch (const Error& error) {
    if (error.code() == ErrorCode::Comm) note_loss(error);
    throw;
  }
  result_.state = state_;
  result_.counts = counts_;
  return result_;
}

void Loop::run() {
  begin();
  if (!walk_->at_end()) run_tasks({.resumed = true});
  while (!walk_->at_end() && !result_.stopped) {
    step();
    if (!walk_->at_end()) run_tasks({});
  }
  if (!result_.stopped) run_tasks({.at_end = true});
  if (!result_.stopped) record(EndReport{.step = state_.step});
}

void Loop::begin() {
  // By a copy: its files are open for as long as they are read.
  if (const auto& resumed = shared_.prepared.resume_from) {
    restore(CheckpointReader(*resumed));
  } else if (const auto& init = shared_.prepared.init_from) {
    load_weights(CheckpointReader(*init), engine_.parameters(), engine_.store());
  } else {
    engine_.init(static_cast<uint64_t>(resolved_.config.train.seed));
  }
  state_.data = to_json(shared_.prepared.data.identity).dump();
  // Only when every rank has its memory: a refused run leaves nothing behind. One may have read a
  // checkpoint for as long as a save takes.
  const auto hosts = control().gather("begin", world_.process().host, deadlines().save);
  state_.run = run_id_ = agreed_run_id();
  if (leads()) {
    slow_ranks_.emplace(hosts);
    shared_.folder.begin(*resolved_.recorded, run_id_);
    own_sinks_.push_back(
        std::make_unique<LedgerSink>(shared_.storage, resolved_.config.checkpoint.dir, run_id_));
    sinks_.push_back(own_sinks_.back().get());
    std::ranges::copy(shared_.options.sinks, std::back_inserter(sinks_));
  }
  start_from_state();
}

// Rank 0's, on all.
std::string Loop::agreed_run_id() {
  std::string own;
  if (leads())
    own = shared_.options.resume ? shared_.folder.id_of_resumed_run(state_.run) : draw_run_id();
  return control().gather("id of the run", own)[0];
}

void Loop::restore(const CheckpointReader& checkpoint) {
  const std::string& dir = checkpoint.info().dir;
  state_ = load_checkpoint(checkpoint, engine_.parameters(), engine_.store());
  if (!run_id_.empty()) state_.run = run_id_;  // the first one loaded may be of an older program
  load_sections(state_.sections, sections_, dir);
  result_.train_loss = state_.last_loss;
  result_.checkpoint = dir;
}

void Loop::start_from_state() {
  world_.watch().at_step(state_.step);
  counts_ = count_tokens(*shared_.prepared.data.train, 0, state_.samples);
  walk_.emplace(resolved_.steps, Progress{state_.step, state_.tokens}, state_.samples);
  batches_.emplace(loader_, resolved_.config.batch.micro_batch,
                   [walk = RankWalk(*walk_, world_.rank())]() mutable { return walk.next(); });
  announce();
}

void Loop::announce() {
  const RunConfig& config = resolved_.config;
  const RunData& data = shared_.prepared.data;
  const Horizon& horizon = resolved_.steps.horizon;
  StartReport start{.version = kLedgerVersion,
                    .run = run_id_,
                    .step = state_.step,
                    .samples = state_.samples,
                    .config_hash = hex(config_hash(*resolved_.recorded)),
                    .config = to_toml(*resolved_.recorded),
                    .data_hash = hex(data.identity.hash()),
                    .data = to_json(data.identity),
                    .device = device_text(engine_.context().device),
                    .precision = std::string(name_of(config.train.precision)),
                    .ranks = world_.size(),
                    .bytes = engine_.placed().allocated_bytes(),
                    .places = shared_.prepared.places};
  const Transport transport = world_.transport();
  if (world_.size() > 1) start.transport = transport.name;
  if (!transport.facts.empty()) start.transport_facts = transport.facts;
  put(counts_, start);
  const RunFacts facts{
      .start = start,
      .run_dir = config.checkpoint.dir,
      .train_data = data.train->describe(),
      .valid_data = data.valid ? data.valid->describe() : "none, since data.valid_fraction is 0",
      .parameters = parameter_count(config.model),
      .total_steps = horizon.steps,
      .total_tokens = horizon.tokens,
      .epochs = epochs_of(data, horizon.tokens / config.batch.seq),
      .predicted_bytes = plan_memory(train_table(resolved_)).total_bytes,
      .nothing_to_resume = shared_.options.resume ? nothing_to_resume(shared_.prepared) : "",
      .threads = resolved_.place.threads_per_rank * world_.size()};
  for (Sink* sink : sinks_) sink->begin(facts);
  record(start);
}

void Loop::step() {
  if (leads()) shared_.folder.check_held();
  timer_.begin();
  const StepPlan plan = plan_ = walk_->next();
  const double lr = plan.lr * rate_.value();
  const TokenCounts taken =
      count_tokens(*shared_.prepared.data.train, plan.first_sample, plan.end_sample);
  const auto targets = static_cast<double>(taken.trained);

  engine_.start_step();
  for (int64_t micro = 0; micro < plan.num_micro_steps; ++micro) {
    const Batch& batch = timer_.reading([&]() -> const Batch& { return batches_->next(); });
    check(batch.counter == plan.sample_of(micro, world_.rank()), ErrorCode::Internal,
          "samples at {}: expected those at {}", batch.counter,
          plan.sample_of(micro, world_.rank()));
    const bool documents = !batch.document_start.empty();
    engine_.accumulate({.tokens = batch.tokens.data(),
                        .targets = batch.targets.data(),
                        .document_start = documents ? batch.document_start.data() : nullptr},
                       1.0 / targets, /*last=*/micro + 1 == plan.num_micro_steps);
  }
  const std::optional<double> loss_scale = engine_.loss_scale();
  engine_.update(lr, plan.step);
  const UpdateReport update = timer_.waiting([&] { return engine_.take_report(); });
  const Ending ending = agree_on_ending();

  walk_->advance();
  state_.step = walk_->at().step;
  state_.tokens = walk_->at().tokens;
  state_.samples = walk_->samples();
  state_.last_loss = ending.loss / targets;
  world_.watch().at_step(state_.step);
  counts_ += taken;
  result_.train_loss = state_.last_loss;
  save_asked_ = ending.save_asked;
  const StepVerdict verdict = judge({.step = state_.step,
                                     .loss = state_.last_loss,
                                     .grad_norm = update.grad_norm,
                                     .updated = !update.skipped,
                                     .stop_asked = ending.stop_asked});
  StepReport report = report_of(plan, ending, timer_.step_seconds());
  report.lr = lr;
  report.grad_norm = update.grad_norm;
  if (loss_scale) {
    report.loss_scale = loss_scale;
    report.skipped = update.skipped;
  }
  if (verdict > StepVerdict::Skip) report.verdict = name_of(verdict);
  if (slow_ranks_) report.slow_rank = slow_ranks_->after_step(ending.ranks);
  record(report);
  obey(verdict);
  timer_.end();
}

StepReport Loop::report_of(const StepPlan& plan, const Ending& ending, double seconds) const {
  const auto tokens = static_cast<double>(plan.tokens);
  StepReport report{.step = state_.step,
                    .loss = state_.last_loss,
                    .tokens = state_.tokens,
                    .samples = {plan.first_sample, plan.end_sample},
                    .seconds = seconds,
                    .tokens_per_second = tokens / seconds,
                    .flops = tokens * flops_per_token_,
                    .data_wait = mean_of(ending.ranks, &RankTime::data)};
  put(counts_, report);
  if (const PeakFlops* peak = shared_.options.peak) {
    const double rate = *report.flops / seconds;
    if (peak->datasheet > 0) report.mfu = rate / peak->datasheet;
    if (peak->measured > 0) report.mfu_measured = rate / peak->measured;
    if (peak->is_doubtful()) report.mfu_doubtful = true;
  }
  const bool several = world_.size() > 1;
  if (several) report.ranks = ranks_of_step(ending.ranks);
  if (!several)
    report.comm_wait = 0.0;
  else if (resolved_.place.device.kind == DeviceKind::Cpu)
    report.comm_wait = mean_of(ending.ranks, &RankTime::tickets);
  return report;
}

std::string Loop::first_not_finite() {
  std::vector<int64_t> firsts;
  for (int64_t micro = 0; micro < plan_.num_micro_steps; ++micro)
    firsts.push_back(plan_.sample_of(micro, world_.rank()));
  return ingot::first_not_finite(engine_, control(), loader_, plan_.micro_batch, firsts);
}

// One small round of the host plane carries the loss, how each rank spent the step and what was
// asked for from outside, so that all ranks stop or save after the same step.
Loop::Ending Loop::agree_on_ending() {
  const RankTime time = timer_.so_far();
  const double own[] = {engine_.take_loss(),
                        is_set(shared_.options.stop) ? 1.0 : 0.0,
                        leads() && is_save_asked() ? 1.0 : 0.0,
                        time.seconds,
                        time.waits,
                        time.tickets,
                        time.data};
  const std::vector<double> all = control().gather_values("end of a step", own);
  timer_.agreed();
  Ending ending;
  for (size_t at = 0; at < all.size(); at += std::size(own)) {
    ending.loss = at == 0 ? all[0] : ending.loss + all[at];
    ending.stop_asked |= all[at + 1] > 0;
    ending.save_asked |= all[at + 2] > 0;
    ending.ranks.push_back({all[at + 3], all[at + 4], all[at + 5], all[at + 6]});
  }
  return ending;
}

bool Loop::is_save_asked() {
  std::atomic<bool>* const save = shared_.options.save;
  const bool asked = save != nullptr && save->exchange(false);
  return asked || save_clock_.is_due(std::chrono::steady_clock::now());
}

StepVerdict Loop::judge(const StepFacts& facts) {
  StepVerdict worst = facts.updated ? StepVerdict::Go : StepVerdict::Skip;
  for (const auto& policy : policies_) worst = std::max(worst, policy->judge(facts));
  return worst;
}

void Loop::obey(StepVerdict verdict) {
  switch (verdict) {
    case StepVerdict::Go:
    case StepVerdict::Skip:
      return;
    case StepVerdict::LowerRate:
      return rate_.halve();
    case StepVerdict::RollBack:
      check(!result_.checkpoint.empty(), ErrorCode::Numeric,
            "step {}: the run is to go back to its newest checkpoint and has none; lower optim.lr "
            "or set checkpoint.every",
            state_.step);
      restore(CheckpointReader(shared_.storage, result_.checkpoint));
      return start_from_state();
    case StepVerdict::Stop:
      result_.stopped = !walk_->at_end();
      return;
  }
}

void Loop::run_tasks(TaskTime now) {
  for (const auto& task : tasks_) {
    now.step = state_.step;
    now.tokens = state_.tokens;
    now.step_tokens = plan_.tokens;
    now.stopping = result_.stopped;
    now.save_asked = save_asked_;
    if (!task->due(now)) continue;
    state_.sections = save_sections(sections_);
    task->run(*this);
  }
}

void Loop::note_loss(const Error& error) {
  faults_.write({error.rank(), error.what()}, world_.watch());
  try {
    record(LostReport{.step = state_.step, .rank = error.rank(), .why = error.what()});
  } catch (const std::exception& failed) {  // the loss is what there is to say
    log::warn("loss_not_recorded", {{"why", failed.what()}});
  }
}

void Loop::record(const RunRecord& record) {
  for (Sink* sink : sinks_) sink->take(record);
}

}  // namespace ingot
