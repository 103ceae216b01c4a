// ingot plan memory RECIPE.toml
#include <fmt/format.h>

#include <memory>

#include "cli/command.h"
#include "cli/machine.h"
#include "core/error.h"
#include "core/text/nearest.h"
#include "plan/memory_report.h"
#include "plan/resolve.h"

namespace ingot::cli {
namespace {

struct PlanMemoryCommand {
  RecipeOptions recipe;
  std::string gpu;
  JsonOption json;

  Exit run() const {
    const MemoryReport report = gpu.empty() ? here() : elsewhere();
    fmt::print("{}\n", text_of(report));
    json.print(to_json(report));
    return report.fit.fits() ? Exit::Done : Exit::Failed;
  }

 private:
  MemoryReport here() const {
    const ResolvedRun run = resolve_here(with_environment(recipe.load()));
    return memory_report(run, available_memory(run.device));
  }

  // On a GPU that has nothing else to do.
  MemoryReport elsewhere() const {
    const auto facts = known_gpu(gpu);
    const std::string near = nearest_name(gpu, known_gpu_names());
    check(facts.has_value(), ErrorCode::Usage, "--gpu {}: no such GPU is known; {}{}", gpu,
          near.empty() ? "" : fmt::format("did you mean {}? ", near),
          fmt::format("expected one of {}", fmt::join(known_gpu_names(), ", ")));
    RunConfig config = recipe.load();
    config.system.device = DeviceChoice::Cuda;
    return memory_report(resolve(config, *facts, available_cores()), facts->memory_bytes);
  }
};

}  // namespace

void add_plan_memory(Command& plan) {
  auto command = std::make_shared<PlanMemoryCommand>();
  auto* memory = plan.add_subcommand(
      "memory", "bytes that a run takes, by what they are for, and whether they fit");
  command->recipe.add_to(*memory, /*recipe_required=*/false);
  memory->add_option("--gpu", command->gpu,
                     "for one of these, which need not be here: " +
                         fmt::format("{}", fmt::join(known_gpu_names(), ", ")));
  command->json.add_to(*memory);
  memory->footer(
      "Example: ingot plan memory recipes/gpt2-124m.toml --gpu h200 --set batch.micro_batch=32\n"
      "Without --gpu it is for the device that the run would choose here, and what is free on it "
      "now. Exits with 1 where the run does not fit.");
  memory->callback([command] { return command->run(); });
}

}  // namespace ingot::cli
