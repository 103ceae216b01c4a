#include "train/hooks/tasks.h"

#include <chrono>
#include <nlohmann/json.hpp>

#include "checkpoint/checkpoint.h"
#include "checkpoint/exchange/hf/stop_ids.h"
#include "core/error/error.h"
#include "eval/engine_scorer.h"
#include "eval/rank_scorer.h"
#include "infer/live_model.h"
#include "parallel/comm/deadlines.h"
#include "train/records/train_result.h"
#include "train/start/prepare.h"
#include "train/step/engine.h"
#include "train/step/evaluate.h"

namespace ingot {
namespace {

bool is_multiple(int64_t step, int64_t every) {
  return every > 0 && step % every == 0;
}

bool is_set(const std::atomic<bool>* flag) {
  return flag != nullptr && flag->load(std::memory_order_relaxed);
}

}  // namespace

bool MeasuringTask::due(const TaskTime& now) const {
  return now.resumed ? missing_ == now.step : now.at_end || is_time(now);
}

void MeasuringTask::run(RunView& run) {
  missing_ = run.state().step;
  if (run.result().stopped) return;
  if (!measure(run)) return run.stop();
  missing_.reset();
}

std::string MeasuringTask::save() const {
  return nlohmann::json{{"missing", missing_.value_or(0)}}.dump();
}

void MeasuringTask::load(std::string_view saved) {
  const auto json = nlohmann::json::parse(saved, nullptr, false);
  const bool known = json.is_object() && json.contains("missing") &&
                     json["missing"].is_number_integer() && json["missing"] >= 0;
  check(known, ErrorCode::Data,
        "the checkpoint's {} is {}: expected the step after which one is missing", name(), saved);
  const auto step = json["missing"].get<int64_t>();
  missing_ = step > 0 ? std::optional(step) : std::nullopt;
}

bool EvaluateTask::is_time(const TaskTime& now) const {
  return is_multiple(now.step, every_);
}

bool EvaluateTask::measure(RunView& run) {
  const RunData& data = run.run().data;
  if (!sources_) sources_.emplace(*data.valid, data.held_out);
  const auto measured = evaluate_loss(run.engine(), run.control(), *data.valid, run.run().resolved,
                                      stop(), run.deadlines().validation, &*sources_);
  if (!measured) return false;
  EvalReport report = *measured;
  report.step = run.state().step;
  run.result().eval = report;
  run.record(report);
  return true;
}

bool ScoreTask::is_time(const TaskTime& now) const {
  return every_tokens_ > 0 &&
         now.tokens / every_tokens_ > (now.tokens - now.step_tokens) / every_tokens_;
}

bool ScoreTask::measure(RunView& run) {
  const PreparedRun& prepared = run.run();
  const RunConfig& config = prepared.resolved.config;
  Engine& engine = run.engine();
  const Tokenizer& tokenizer = *prepared.data.tokenizer;
  LiveModel model(engine.context(), config.model, *prepared.resolved.scoring, engine.placed(),
                  engine.store(), tokenizer, stop_ids_of(prepared.auxiliary_files, tokenizer));
  EngineScorer own(model);
  RankScorer scorer(own, run.control(), run.deadlines().validation, [&] { return is_set(stop()); });
  try {
    for (const TaskScore& of :
         score_tasks(prepared.tasks, static_cast<size_t>(config.train.eval_items),
                     document_ids(tokenizer), task_ids(prepared), scorer)) {
      ScoreReport report{.step = run.state().step,
                         .trained = run.state().tokens,
                         .task = of.task,
                         .metric = of.metric,
                         .value = of.score.value,
                         .items = of.score.num};
      if (of.cut_prompts > 0) report.cut_prompts = of.cut_prompts;
      if (of.score.standard_error > 0) report.error = of.score.standard_error;
      if (of.interval) {
        report.low = of.interval->low;
        report.high = of.interval->high;
      }
      run.record(report);
    }
  } catch (const RankScorer::Stopped&) {
    return false;
  }
  return true;
}

bool SaveTask::due(const TaskTime& now) const {
  if (now.resumed) return false;
  return now.stopping || now.at_end || now.save_asked || is_multiple(now.step, options_.every);
}

void SaveTask::run(RunView& run) {
  const RunConfig& config = *run.run().resolved.recorded;
  const std::string& folder = config.checkpoint.dir;
  const SaveClock::Time begin = std::chrono::steady_clock::now();
  if (run.leads()) options_.folder->check_held_now();
  std::string& dir = run.result().checkpoint;
  try {
    dir = save_checkpoint(*options_.storage, run.control(), folder, config, run.state(),
                          run.engine().parameters(), run.engine().store(), options_.auxiliary_files,
                          run.deadlines().save);
  } catch (const Error&) {  // a folder that is gone is the cause, not the file that it lacks
    if (run.leads()) options_.folder->check_held_now();
    throw;
  }
  if (run.leads()) options_.folder->check_held_now();  // saving would make a removed folder again
  run.record(SavedReport{.step = run.state().step, .dir = dir});
  if (run.leads()) retain_checkpoints(options_.storage, folder, config.checkpoint.keep);
  options_.clock->saved(begin, std::chrono::steady_clock::now());
  // Asked meanwhile: what was saved is the newest there is.
  const bool asked = is_set(options_.stop);
  if (run.control().any("stop after saving", asked, run.deadlines().save)) run.stop();
}

}  // namespace ingot
