#include "train/hooks/tasks.h"

#include <chrono>
#include <nlohmann/json.hpp>

#include "checkpoint/checkpoint.h"
#include "core/error/error.h"
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

bool EvaluateTask::due(const TaskTime& now) const {
  if (now.resumed) return missing_ == now.step;
  return now.at_end || is_multiple(now.step, every_);
}

void EvaluateTask::run(RunView& run) {
  missing_ = run.state().step;
  if (run.result().stopped) return;
  const auto measured = evaluate_loss(run.engine(), run.control(), *run.run().data.valid,
                                      run.run().resolved, stop_, run.deadlines().validation);
  if (!measured) return run.stop();
  missing_.reset();
  EvalReport report = *measured;
  report.step = run.state().step;
  run.result().eval = report;
  run.record(report);
}

std::string EvaluateTask::save() const {
  return nlohmann::json{{"missing", missing_.value_or(0)}}.dump();
}

void EvaluateTask::load(std::string_view saved) {
  const auto json = nlohmann::json::parse(saved, nullptr, false);
  const bool known = json.is_object() && json.contains("missing") &&
                     json["missing"].is_number_integer() && json["missing"] >= 0;
  check(known, ErrorCode::Data,
        "the checkpoint's validation is {}: expected the step after which one is missing", saved);
  const auto step = json["missing"].get<int64_t>();
  missing_ = step > 0 ? std::optional(step) : std::nullopt;
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
