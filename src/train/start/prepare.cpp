#include "train/start/prepare.h"

#include <utility>

#include "checkpoint/checkpoint.h"
#include "core/error/error.h"
#include "core/error/log.h"
#include "plan/fit.h"
#include "spec/model/model_settings.h"
#include "spec/model/transformer_parameters.h"
#include "spec/run/short_length.h"
#include "train/start/checkpoint_space.h"
#include "train/start/content_checks.h"
#include "train/start/init_tokenizer.h"
#include "train/start/resume.h"
#include "train/start/run_folder.h"
#include "train/start/schedule_change.h"

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

// Of the settings as given: a fraction may come to less than a step. A run that resumes was begun
// with them.
void check_lengths(const RunConfig& config, bool resumed) {
  const std::string what = lengths_below_a_step(config);
  check(what.empty() || resumed, ErrorCode::Config, "{}", what);
  if (!what.empty()) log::warn("length_below_a_step", {{"what", what}});
}

void check_end_is_ahead(const CheckpointInfo& from, const ResolvedRun& run) {
  const bool in_steps = run.config.train.steps > 0;
  const RunState& at = from.state;
  check(run.steps.horizon.steps >= at.step, ErrorCode::Config,
        "cannot resume from {}: the run has {} steps and {} tokens behind it, and {} = {} ends "
        "it before: set that to {} or more",
        from.dir, at.step, at.tokens, in_steps ? "train.steps" : "train.total_tokens",
        in_steps ? run.config.train.steps : run.config.train.total_tokens,
        in_steps ? at.step : at.tokens);
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

// Opens the data that the run was begun on, and refuses where it cannot go on as it was planned.
void prepare_to_resume(const std::shared_ptr<Storage>& storage, PreparedRun& run,
                       bool accept_schedule) {
  const RunConfig& config = run.resolved.config;
  const std::string& from = *run.resume_from;
  const CheckpointInfo info = CheckpointReader(storage, from).info();
  check_end_is_ahead(info, run.resolved);
  auto tokenizer = tokenizer_to_resume(storage, config, from);
  const std::string& was = info.state.data;
  const auto parsed = nlohmann::json::parse(was, nullptr, /*allow_exceptions=*/false);
  run.data = was.empty() ? open_run_data(*storage, config, std::move(tokenizer), Doubts::Warn)
                         : reopen_run_data(*storage, config, parse_data_identity(parsed, from),
                                           std::move(tokenizer));
  check_same_data(run.data.identity, was, from);
  check_schedule_change(info, run.resolved.recorded, accept_schedule);
  run.first_step = info.state.step;
}

}  // namespace

std::string nothing_to_resume(const PreparedRun& run) {
  if (run.resume_from) return "";
  return fmt::format("no {} in {}, starting at step 0", run.has_run ? "checkpoint yet" : "run",
                     run.resolved.config.checkpoint.dir);
}

PreparedRun prepare_run(std::shared_ptr<Storage> storage, const ResolvedRun& resolved,
                        std::optional<std::string> resume_from, bool accept_schedule,
                        bool compares_content) {
  const RunConfig& config = resolved.config;
  validate(config);
  PreparedRun run;
  run.resolved = resolved;
  run.resume_from = std::move(resume_from);
  run.has_run = storage->exists(join_path(config.checkpoint.dir, kRunConfigName));
  check_lengths(resolved.recorded, run.resume_from.has_value());
  // Before the data, whose tokenizer may be that of the model.
  if (!run.resume_from && !config.train.init.empty()) {
    run.init_from = resolve_checkpoint(storage, config.train.init);
    const CheckpointReader reader(storage, *run.init_from);
    check_same_shapes(reader, transformer_parameters(config.model));
    warn_of_other_settings(reader.info(), config.model);
  }
  if (run.resume_from)
    prepare_to_resume(storage, run, accept_schedule);
  else
    run.data = open_run_data(*storage, config);
  const int64_t samples = resolved.steps.horizon.tokens / config.batch.seq;
  check_epochs(run.data, config.data, samples);
  if (compares_content) {
    const Doubts doubts = run.resume_from ? Doubts::Warn : Doubts::Refuse;
    check_documents_are_known(run.data, config, doubts);
    check_mixture(run.data, config.data, samples, doubts);
    check_held_out(run.data, config.data, doubts);
  }
  if (run.init_from) check_init_tokenizer(storage, *run.init_from, *run.data.tokenizer, config);
  check_fits_here(resolved, run.resume_from.has_value());
  check_space(*storage, resolved);
  return run;
}

}  // namespace ingot
