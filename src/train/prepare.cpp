#include "train/prepare.h"

#include <utility>

#include "checkpoint/checkpoint.h"
#include "core/error.h"
#include "core/log.h"
#include "plan/fit.h"
#include "spec/llama_table.h"
#include "spec/model_settings.h"
#include "train/content_checks.h"
#include "train/resume.h"
#include "train/schedule_change.h"

namespace ingot {
namespace {

void check_schedule_change(const CheckpointInfo& from, const RunConfig& config, bool accepted) {
  const auto change = schedule_change(parse_run_config(from.config_toml, from.dir, {}), config,
                                      {from.state.step, from.state.tokens});
  if (!change) return;
  check(accepted, ErrorCode::Config,
        "cannot resume from {}: {}; add --accept-schedule to go on by the new plan, or restore the "
        "length",
        from.dir, *change);
  log::warn("schedule_changed", {{"dir", from.dir}, {"what", *change}});
}

// Of equal shapes another rotary base, say, is another model; a recipe may mean that.
void warn_of_other_settings(const CheckpointInfo& init, ModelConfig here) {
  ModelConfig there = init.model;
  there.init_std = here.init_std;  // of weights that are not used
  const std::vector<Setting> was = model_settings(there), is = model_settings(here);
  for (size_t i = 0; i < was.size(); ++i)
    if (was[i].get() != is[i].get())
      log::warn("other_than_train_init", {{"setting", was[i].name},
                                          {"there", toml_text(was[i].get())},
                                          {"here", toml_text(is[i].get())}});
}

}  // namespace

PreparedRun prepare_run(std::shared_ptr<Storage> storage, const ResolvedRun& resolved,
                        std::optional<std::string> resume_from, bool accept_schedule,
                        bool compares_content) {
  const RunConfig& config = resolved.config;
  validate(config);
  PreparedRun run;
  run.resolved = resolved;
  run.resume_from = std::move(resume_from);
  // Before the data, whose tokenizer may be that of the model.
  if (!run.resume_from && !config.train.init.empty()) {
    run.init_from = resolve_checkpoint(storage, config.train.init);
    const CheckpointReader reader(storage, *run.init_from);
    check_same_shapes(reader, llama_parameters(config.model));
    warn_of_other_settings(reader.info(), config.model);
  }
  const Doubts doubts = run.resume_from ? Doubts::Warn : Doubts::Refuse;
  run.data = open_run_data(
      *storage, config,
      run.resume_from ? tokenizer_to_resume(storage, config, *run.resume_from) : nullptr, doubts);
  const int64_t samples = resolved.steps.horizon.tokens / config.batch.seq;
  check_epochs(run.data, config.data, samples);
  if (compares_content) {
    check_mixture(run.data, config.data, samples, doubts);
    check_held_out(run.data, config.data, doubts);
  }
  if (run.resume_from) {
    const CheckpointReader reader(storage, *run.resume_from);
    check_same_data(run.data.identity, reader.info().state.data, *run.resume_from);
    check_schedule_change(reader.info(), resolved.recorded, accept_schedule);
    run.first_step = reader.info().state.step;
  }
  check_fits_here(resolved, run.resume_from.has_value());
  return run;
}

}  // namespace ingot
