#include "train/start/prepare.h"

#include <utility>

#include "checkpoint/exchange/hf/tokenizer.h"
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
#include "train/start/schedule_change.h"

namespace ingot {
namespace {

void check_schedule_change(const CheckpointInfo& from, const RunConfig& config, bool accepted) {
  const auto change = schedule_change(parse_run_config(from.config_toml, from.dir, {}), config,
                                      {from.state.step, from.state.tokens});
  if (!change) return;
  check(accepted, ErrorCode::Config,
        "cannot resume from {}: {}; add --accept-schedule to continue by the new plan, or restore "
        "the "
        "length",
        from.dir, *change);
  log::warn("schedule_changed", {{"dir", from.dir}, {"what", *change}});
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

// Opens the data that the run was begun on, and refuses if the run cannot continue as planned.
void prepare_to_resume(Storage& storage, PreparedRun& run, bool accept_schedule) {
  const RunConfig& config = run.resolved.config;
  const CheckpointInfo& info = run.resume_from->info();
  check_end_is_ahead(info, run.resolved);
  auto tokenizer = tokenizer_to_resume(storage, config, info);
  const std::string& was = info.state.data;
  const auto parsed = nlohmann::json::parse(was, nullptr, /*allow_exceptions=*/false);
  run.data = was.empty() ? open_run_data(storage, config, std::move(tokenizer), Doubts::Warn)
                         : reopen_run_data(storage, config, parse_data_identity(parsed, info.dir),
                                           std::move(tokenizer));
  check_same_data(run.data.identity, was, info.dir);
  check_schedule_change(info, *run.resolved.recorded, accept_schedule);
  run.first_step = info.state.step;
}

void open_init(PreparedRun& run, const std::shared_ptr<Storage>& storage,
               const StartOptions& options) {
  const RunConfig& config = run.resolved.config;
  const auto choice =
      options.init ? options.init : std::make_shared<CheckpointChoice>(storage, config.train.init);
  run.init_from = choice->use();
  check_same_shapes(*run.init_from, transformer_parameters(config.model));
  warn_of_other_settings(run.init_from->info(), config.model);
}

// What came with the weights stays with them, as far as it is about the same tokens; else what lies
// beside the tokenizer.
AuxiliaryFiles auxiliary_files_of(Storage& storage, const PreparedRun& run) {
  const Tokenizer& tokenizer = *run.data.tokenizer;
  const auto& from = run.resume_from ? run.resume_from : run.init_from;
  AuxiliaryFiles kept = from ? from->auxiliary_files() : AuxiliaryFiles();
  const std::string text = tokenizer.kind() == "byte" ? "" : tokenizer.serialize();
  const bool is_kept = from && text == kept.tokenizer;
  kept.tokenizer = text;
  if (is_kept) return kept;
  kept.hf_files.clear();
  kept.stop_ids.clear();
  const RunConfig& config = run.resolved.config;
  add_chat_files(storage, config.data.tokenizer, tokenizer, config.model.vocab, kept);
  return kept;
}

// All that one process finds out by itself. Whether data is the same under several names, which may
// read hashes of all documents, one rank finds out for all: `compares_content`.
void prepare_process(PreparedRun& run, const std::shared_ptr<Storage>& storage,
                     const StartOptions& options, bool compares_content) {
  const ResolvedRun& resolved = run.resolved;
  const RunConfig& config = resolved.config;
  const bool resumed = run.resume_from.has_value();
  run.has_run = storage->exists(join_path(config.checkpoint.dir, kRunConfigName));
  check_lengths(*resolved.recorded, resumed);
  // Before the data, whose tokenizer may be that of the model.
  if (!resumed && !config.train.init.empty()) open_init(run, storage, options);
  if (resumed)
    prepare_to_resume(*storage, run, options.accept_schedule);
  else
    run.data = open_run_data(*storage, config);
  const int64_t samples = resolved.steps.horizon.tokens / config.batch.seq;
  check_epochs(run.data, config.data, samples);
  if (compares_content) {
    const Doubts doubts = resumed ? Doubts::Warn : Doubts::Refuse;
    warn_of_different_marks(*storage, run.data);
    check_documents_are_known(run.data, config, doubts);
    check_mixture(run.data, config.data, samples, doubts);
    check_held_out(run.data, config.data, doubts);
  }
  if (run.init_from)
    check_init_tokenizer(*storage, run.init_from->info(), *run.data.tokenizer, config);
  check_fits_here(resolved, resumed);
  check_space(*storage, resolved);
  run.auxiliary_files = auxiliary_files_of(*storage, run);
  log::debug("run_prepared", {{"first_step", std::to_string(run.first_step)},
                              {"data", run.data.train->describe()}});
}

// Rank 0's choice, in the folder as this rank has it; on ranks that are threads rank 0's alone.
std::optional<CheckpointReader> resume_point(World& world, const std::shared_ptr<Storage>& storage,
                                             const ResolvedRun& resolved,
                                             const StartOptions& options) {
  std::optional<CheckpointReader> found;
  if (world.rank() == 0)
    found = find_resume_point(storage, resolved, options.resume, options.checkpoints);
  const std::string own = found ? file_name(found->info().dir) : "";
  const std::string name =
      world.control().gather("where the run starts", own, world.deadlines().save)[0];
  const bool is_process = !world.process().rendezvous.empty();
  if (!found && is_process && !name.empty()) {
    const auto* open = options.checkpoints ? options.checkpoints->readable() : nullptr;
    if (open != nullptr && file_name(open->info().dir) == name)
      found = *open;
    else
      found.emplace(storage, join_path(resolved.config.checkpoint.dir, name));
  }
  return found;
}

void agree_on_contents_of(const PreparedRun& run, Control& control) {
  const RunData& data = run.data;
  agree_on_data(control, "data.train", data.identity);
  if (data.valid) {
    const std::vector<std::string> held_out(data.valid->parts().size(), "held out");
    agree_on_data(control, "data.valid", identity_of(*data.valid, Packing::Concat, 0, held_out));
  }
  agree_on_contents(control, "data.tokenizer", run.auxiliary_files.tokenizer, "give all the same");
  const auto& from = run.resume_from ? run.resume_from : run.init_from;
  agree_on_contents(control, "the checkpoint to resume from", from ? from->manifest_text() : "",
                    "use a folder on a file system that all machines share");
}

}  // namespace

std::string nothing_to_resume(const PreparedRun& run) {
  if (run.resume_from) return "";
  return fmt::format("no {} in {}, starting at step 0", run.has_run ? "checkpoint yet" : "run",
                     run.resolved.config.checkpoint.dir);
}

// Of the settings as given: a fraction may come to less than a step.
void check_lengths(const RunConfig& config, bool resumed) {
  const std::string what = lengths_below_a_step(config);
  check(what.empty() || resumed, ErrorCode::Config, "{}", what);
  if (!what.empty()) log::warn("length_below_a_step", {{"what", what}});
}

void prepare_rank(World& world, const std::shared_ptr<Storage>& storage,
                  const ResolvedRun& resolved, const StartOptions& options, RunFolder* folder,
                  std::optional<PreparedRun>& prepared) {
  Control& control = world.control();
  const bool is_process = !world.process().rendezvous.empty(), leads = world.rank() == 0;
  std::vector<RankPlace> places;
  if (is_process)
    places = agree_on_settings(control, options.build, *resolved.recorded, options.place);
  if (leads && folder != nullptr) folder->take();
  if (is_process && folder != nullptr)
    agree_on_folder(control, *storage, resolved.config.checkpoint.dir, options.place.host);
  auto from = resume_point(world, storage, resolved, options);
  if (leads || is_process) {
    PreparedRun& run = prepared.emplace(PreparedRun{.resolved = resolved});
    run.resume_from = std::move(from);
    run.places = std::move(places);
    prepare_process(run, storage, options, /*compares_content=*/leads);
  }
  // To verify a checkpoint, or to open the data, may take as long as to save one.
  control.barrier("prepared", world.deadlines().save);
  if (is_process) agree_on_contents_of(*prepared, control);
}

PreparedRun prepare(const std::shared_ptr<Storage>& storage, const ResolvedRun& resolved,
                    const StartOptions& options) {
  std::optional<PreparedRun> prepared;
  options.ranks->run([&](World& world) {
    prepare_rank(world, storage, resolved, options, /*folder=*/nullptr, prepared);
  });
  return *std::move(prepared);
}

}  // namespace ingot
