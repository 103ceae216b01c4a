// ingot plan memory RECIPE.toml
#include <fmt/format.h>

#include <memory>

#include "cli/frame/command.h"
#include "cli/frame/weight_options.h"
#include "cli/start/machine.h"
#include "cli/start/processes.h"
#include "core/error/error.h"
#include "core/storage/storage.h"
#include "plan/memory_report.h"
#include "plan/resolve.h"
#include "plan/serve_report.h"
#include "spec/machine/hardware_profile.h"

namespace ingot::cli {
namespace {

struct PlanMemoryCommand {
  RecipeOptions recipe;
  std::string gpu;
  std::string profile;
  bool serve = false;
  WeightOptions weights;
  JsonOption json;

  Exit run() const {
    check(gpu.empty() || profile.empty(), ErrorCode::Usage,
          "--gpu and --profile both say what to plan for: give one of them");
    if (serve) return run_serve();
    const MemoryReport report = !profile.empty() ? profiled() : gpu.empty() ? here() : elsewhere();
    fmt::print("{}\n", text_of(report));
    json.print(to_json(report));
    return report.fit.fits() ? Exit::Done : Exit::Failed;
  }

 private:
  // Exit::Failed where not even the shortest conversation fits.
  Exit run_serve() const {
    const ModelConfig model = recipe.load().config.model;
    const auto format = weights.options(1).weights;
    const auto report = [&](const DeviceFacts& facts, int64_t free) {
      return serve_report(facts, model, format, free);
    };
    const Device device = choose_device("auto");
    const ServeReport said =
        !profile.empty() ? report(device_facts_of(read_profile()), free_of(read_profile()))
        : !gpu.empty()   ? report(named_gpu(), named_gpu().memory_bytes)
                         : report(device_facts(device), available_memory(device));
    fmt::print("{}\n", text_of(said));
    json.print(to_json(said));
    return said.fits.front().conversations > 0 ? Exit::Done : Exit::Failed;
  }

  MemoryReport here() const {
    const ResolvedRun run =
        resolve_started(ValidConfig::open_ended(with_environment(recipe.load().config)));
    return memory_report(run, available_memory(run.place.device));
  }

  DeviceFacts named_gpu() const {
    const auto facts = known_gpu(gpu);
    const std::string near = nearest_gpu_name(gpu);
    check(facts.has_value(), ErrorCode::Usage, "--gpu {}: no such GPU is known; {}{}", gpu,
          near.empty() ? "" : fmt::format("did you mean {}? ", near),
          fmt::format("expected one of {}", fmt::join(known_gpu_names(), ", ")));
    return *facts;
  }

  HardwareProfile read_profile() const {
    return parse_hardware_profile(read_text(*posix_storage(), profile), profile);
  }

  int64_t free_of(const HardwareProfile& machine) const {
    const int64_t free = machine.on_gpu ? machine.device_memory_bytes : machine.host_memory_bytes;
    check(free > 0, ErrorCode::Config, "{}: host.memory_bytes: expected the memory to plan for",
          profile);
    return free;
  }

  // On a GPU that has nothing else to do.
  MemoryReport elsewhere() const {
    const DeviceFacts facts = named_gpu();
    const RunConfig config = on_device(DeviceChoice::Cuda, "--gpu " + gpu);
    return planned(config, facts, available_cores(), facts.memory_bytes);
  }

  // On machines that were measured and have nothing else to do.
  MemoryReport profiled() const {
    const HardwareProfile machine = read_profile();
    const RunConfig config =
        on_device(machine.on_gpu ? DeviceChoice::Cuda : DeviceChoice::Cpu, "--profile " + profile);
    return planned(config, device_facts_of(machine), static_cast<int>(machine.cores),
                   free_of(machine));
  }

  RunConfig on_device(DeviceChoice device, const std::string& option) const {
    RunConfig config = recipe.load().config;
    const DeviceChoice asked = config.system.device;
    check(asked == DeviceChoice::Auto || asked == device, ErrorCode::Usage,
          "{} plans for {} and system.device = {} says otherwise: leave {} out, or add --set "
          "system.device=auto",
          option, device == DeviceChoice::Cuda ? "a GPU" : "a CPU", name_of(asked), option);
    config.system.device = device;
    return config;
  }

  static MemoryReport planned(const RunConfig& config, const DeviceFacts& facts, int cores,
                              int64_t free) {
    return memory_report(resolve_elsewhere(ValidConfig::open_ended(config), facts, cores), free);
  }
};

}  // namespace

void add_plan_memory(Command& plan) {
  auto command = std::make_shared<PlanMemoryCommand>();
  auto* memory = plan.add_subcommand(
      "memory", "bytes that a run takes, by what they are for, and whether they fit");
  command->recipe.add_to(*memory, /*recipe_required=*/false);
  memory->add_option("--gpu", command->gpu,
                     "plan for one of these GPUs, which need not be here: " +
                         fmt::format("{}", fmt::join(known_gpu_names(), ", ")));
  memory->add_option("--profile", command->profile,
                     "plan for the machine that `ingot probe --save` wrote to this file");
  memory->add_flag("--serve", command->serve,
                   "instead: how many conversations of which length fit when the model is served");
  command->weights.add_weights_to(*memory);
  command->json.add_to(*memory);
  memory->footer(
      "Example: ingot plan memory recipes/gpt2_124m.toml --gpu h200 --set batch.micro_batch=32\n"
      "Without --gpu and --profile it is for the device that the run would choose here, and what "
      "is free on it now. Where it does not fit, changes are tried, each on the same table, and "
      "listed with the bytes that they give. Exits with 1 where the run does not fit.");
  memory->callback([command] { return command->run(); });
}

}  // namespace ingot::cli
