// ingot train RECIPE.toml
#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <memory>
#include <utility>

#include "checkpoint/checkpoint.h"
#include "cli/frame/command.h"
#include "cli/machine/speed_record.h"
#include "cli/run/terminal.h"
#include "cli/start/machine.h"
#include "cli/start/processes.h"
#include "cli/start/signals.h"
#include "core/error/error.h"
#include "core/text/format.h"
#include "spec/run/step_walk.h"
#include "train/start/plan.h"
#include "train/start/resume.h"
#include "train/start/run_folder.h"
#include "train/trainer.h"

namespace ingot::cli {
namespace {

struct TrainCommand {
  RecipeOptions recipe;
  JsonOption json;
  bool resume = false, accept_schedule = false, dry_run = false;

  // A folder in the recipe's place is a run's, which knows its settings.
  LoadedRun load() const {
    if (!std::filesystem::is_directory(recipe.path)) return load_recipe();
    check(resume, ErrorCode::Usage,
          "{} is a folder: add --resume to continue the run in it, or give a recipe", recipe.path);
    Overrides sets = parse_sets(recipe.sets);
    // A run resumes on as many ranks as are started, whatever number it had.
    if (this_launch()) sets.emplace(sets.begin(), "system.ranks", "1");
    SavedRun saved = saved_run(posix_storage(), recipe.path, std::move(sets));
    return {.config = std::move(saved.config), .checkpoints = std::move(saved.checkpoints)};
  }

  LoadedRun load_recipe() const {
    if (!resume) return recipe.load();
    check(std::filesystem::exists(recipe.path), ErrorCode::Usage,
          "no run in {}, and no recipe: expected a run folder, or a recipe with which one starts",
          recipe.path);
    return recipe.load_to_resume();
  }

  Exit run() const {
    std::string dir;                      // once it is known
    std::unique_ptr<RankLauncher> ranks;  // likewise
    try {
      return run_in(dir, ranks);
    } catch (Error& error) {
      if (this_launch() && error.rank() < 0) error.on_rank(this_launch()->rank);
      if (!ranks || !ranks->has_begun()) tell_other_ranks(error);
      if (error.code() != ErrorCode::Comm) throw;
      throw Error(ErrorCode::Comm, error.what() + how_to_resume(dir)).on_rank(error.rank());
    }
  }

 private:
  Exit run_in(std::string& dir, std::unique_ptr<RankLauncher>& ranks) const {
    const LoadedRun loaded = load();
    if (leads_run()) warn_of_no_effect(loaded.config);
    const ResolvedRun resolved = resolve_started(with_environment(loaded.config));
    ranks = started_ranks(resolved);
    TrainOptions options;
    options.resume = resume;
    options.accept_schedule = accept_schedule;
    options.init = loaded.init;
    options.checkpoints = loaded.checkpoints;
    options.ranks = ranks.get();
    options.build = build_text();
    options.place = place_of(resolved);
    if (dry_run) {
      const PreparedRun prepared = prepare(posix_storage(), resolved, options);
      if (leads_run()) show_plan(prepared);
      return Exit::Done;
    }
    dir = resolved.config.checkpoint.dir;
    TerminalProgress progress(
        *resolved.recorded, [&] { return leads_run() ? quick_peak_flops(resolved) : PeakFlops(); });
    const RunSignals signals(leads_run());
    options.stop = signals.stop();
    options.save = signals.save();
    options.sinks = {&progress};
    options.peak = progress.peak();
    const TrainResult result = train(posix_storage(), resolved, options);
    if (leads_run()) show(result, dir);
    if (leads_run()) remember_speed(resolved, progress.tokens_per_second());
    return result.stopped ? Exit::Stopped : Exit::Done;
  }

  void show(const TrainResult& result, const std::string& dir) const {
    if (result.stopped)
      fmt::print("stopped after step {} of the run in {}; add --resume to continue it\n",
                 result.state.step, dir);
    else
      fmt::print(
          "done: {} steps, tokens {}, {}\n", result.state.step, text_of(result.counts),
          result.eval ? validation_text(*result.eval) : "training " + loss_text(result.train_loss));
    nlohmann::json line = {
        {"step", result.state.step},       {"tokens", result.state.tokens},
        {"train_loss", result.train_loss}, {"train_perplexity", std::exp(result.train_loss)},
        {"run", result.state.run},         {"checkpoint", result.checkpoint},
        {"stopped", result.stopped}};
    line.update(to_json(result.counts));
    if (result.eval) {
      line["valid_loss"] = result.eval->loss;
      line["valid_perplexity"] = std::exp(result.eval->loss);
    }
    if (result.eval && result.eval->bits_per_byte)
      line["bits_per_byte"] = *result.eval->bits_per_byte;
    json.print(line);
  }

  static std::string validation_text(const EvalReport& eval) {
    return fmt::format(
        "validation {}{}", loss_text(eval.loss),
        eval.bits_per_byte ? fmt::format(", {:.4f} bits per byte", *eval.bits_per_byte) : "");
  }

  // After another rank was lost. Empty where the run had not begun.
  static std::string how_to_resume(const std::string& dir) {
    const auto storage = posix_storage();
    if (dir.empty() || !storage->exists(join_path(dir, kRunConfigName))) return "";
    const auto saved = list_checkpoints(*storage, dir);
    return fmt::format(
        "; {}; resume with: {}",
        saved.empty() ? "no checkpoint was saved yet" : "the newest checkpoint is " + saved.back(),
        command_to_resume(dir));
  }

  // All that a run checks before its first step, and what it would take; writes nothing.
  void show_plan(const PreparedRun& prepared) const {
    const ResolvedRun& resolved = prepared.resolved;
    const RunPlan plan = plan_of(prepared);
    StepWalk walk(resolved.steps);
    walk.advance(prepared.first_step);
    const int64_t tokens = plan.length.tokens - walk.at().tokens;
    fmt::print("{}\n{}\nfolder   {}\n", text_of(plan), time_text(resolved, tokens),
               resolved.config.checkpoint.dir);
    if (resume && !prepared.resume_from) fmt::print("resume   {}\n", nothing_to_resume(prepared));
    nlohmann::json line = to_json(plan);
    add_time(line, resolved, tokens);
    json.print(line);
  }
};

}  // namespace

void add_train(Command& app) {
  auto command = std::make_shared<TrainCommand>();
  auto* train = app.add_subcommand("train", "train a model by a recipe");
  command->recipe.add_to(*train, /*recipe_required=*/true);
  train->add_flag("--resume", command->resume,
                  "resume from the newest good checkpoint in checkpoint.dir, if there is one; "
                  "given a run folder in place of the recipe, with the settings kept in it");
  train->add_flag("--accept-schedule", command->accept_schedule,
                  "resume even if the learning rates are no longer those that were planned");
  train->add_flag("--dry-run", command->dry_run,
                  "check everything and print what the run would take, then stop");
  command->json.add_to(*train);
  train->footer(
      "Example: ingot train recipes/shakespeare.toml --set data.train=input.txt\n"
      "         ingot train --resume runs/default\n"
      "         ingot launch -n 2 -- train recipe.toml\n"
      "Under mpirun and srun each process is a rank. Ctrl-C, SIGTERM and SIGUSR1 save and stop, "
      "SIGUSR2 saves and continues, SIGHUP changes nothing. `ingot config keys` lists every "
      "setting.");
  train->callback([command] { return command->run(); });
}

}  // namespace ingot::cli
