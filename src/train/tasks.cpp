#include "train/tasks.h"

#include "checkpoint/checkpoint.h"
#include "parallel/comm/deadlines.h"
#include "train/engine.h"
#include "train/evaluate.h"
#include "train/prepare.h"
#include "train/trainer.h"

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
  return !now.stopping && (now.at_end || is_multiple(now.step, every_));
}

void EvaluateTask::run(RunView& run) {
  const auto measured = evaluate_loss(run.engine(), run.control(), *run.run().data.valid,
                                      run.run().resolved, stop_, run.deadlines().validation);
  if (!measured) return run.stop();
  EvalReport report = *measured;
  report.step = run.state().step;
  run.result().eval = report;
  run.record(report);
}

bool SaveTask::due(const TaskTime& now) const {
  return now.stopping || now.at_end || now.save_asked || is_multiple(now.step, options_.every);
}

void SaveTask::run(RunView& run) {
  const RunConfig& config = run.run().resolved.recorded;
  const std::string& folder = config.checkpoint.dir;
  if (run.leads()) options_.folder->check_held_now();
  std::string& dir = run.result().checkpoint;
  dir = save_checkpoint(*options_.storage, run.control(), folder, config, run.state(),
                        run.engine().parameters(), run.engine().store(), options_.companions,
                        run.deadlines().save);
  if (run.leads()) options_.folder->check_held_now();  // saving would make a removed folder again
  run.record(SavedReport{run.state().step, dir});
  if (run.leads()) retain_checkpoints(options_.storage, folder, config.checkpoint.keep);
  // Asked meanwhile: what was saved is the newest there is.
  const bool asked = is_set(options_.stop);
  if (run.control().any("stop after saving", asked, run.deadlines().save)) run.stop();
}

}  // namespace ingot
