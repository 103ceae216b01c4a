// ingot train RECIPE.toml
#include <fmt/format.h>

#include <memory>

#include "cli/command.h"
#include "cli/machine.h"
#include "cli/run/terminal.h"
#include "core/text/format.h"

namespace ingot::cli {
namespace {

struct TrainCommand {
  RecipeOptions recipe;
  JsonOption json;
  bool resume = false;

  void run() const {
    const RunConfig config = with_environment(recipe.load());
    validate(config);
    TerminalProgress progress(config, quick_peak_flops(config));
    const StopOnSignal stop;
    TrainOptions options;
    options.resume = resume;
    options.stop = &stop.flag();
    options.observer = &progress;
    const TrainResult result = train(posix_storage(), config, options);

    if (result.stopped)
      fmt::print("stopped after step {} of the run in {}; add --resume to go on\n",
                 result.state.step, config.checkpoint.dir);
    else if (result.eval)
      fmt::print("done: {} steps, {} tokens, validation loss {:.4f}{}\n", result.state.step,
                 format_count(result.state.tokens), result.eval->loss,
                 result.eval->bits_per_byte
                     ? fmt::format(", {:.4f} bits per byte", *result.eval->bits_per_byte)
                     : "");
    nlohmann::json line = {{"step", result.state.step},
                           {"tokens", result.state.tokens},
                           {"train_loss", result.train_loss},
                           {"checkpoint", result.checkpoint},
                           {"stopped", result.stopped}};
    if (result.eval) line["valid_loss"] = result.eval->loss;
    if (result.eval && result.eval->bits_per_byte)
      line["bits_per_byte"] = *result.eval->bits_per_byte;
    json.print(line);
  }
};

}  // namespace

void add_train(Command& app) {
  auto command = std::make_shared<TrainCommand>();
  auto* train = app.add_subcommand("train", "train a model by a recipe");
  command->recipe.add_to(*train, /*recipe_required=*/true);
  train->add_flag("--resume", command->resume,
                  "go on from the newest good checkpoint in checkpoint.dir, if there is one");
  command->json.add_to(*train);
  train->footer(
      "Example: ingot train recipes/shakespeare.toml --set data.train=input.txt\n"
      "Ctrl-C saves and stops; `ingot config keys` lists every setting.");
  train->callback([command] { command->run(); });
}

}  // namespace ingot::cli
