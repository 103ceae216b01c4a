// ingot probe: what the machines and links of a run can do.
#include <fmt/chrono.h>
#include <fmt/format.h>

#include <chrono>
#include <memory>

#include "cli/frame/command.h"
#include "cli/frame/output_file.h"
#include "cli/start/machine.h"
#include "cli/start/processes.h"
#include "core/storage/storage.h"
#include "probe/comm/probe_world.h"

extern char** environ;

namespace ingot::cli {
namespace {

// What NCCL will read, as this process has it.
std::map<std::string, std::string> nccl_environment() {
  std::map<std::string, std::string> found;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const size_t equals = text.find('=');
    if (text.starts_with("NCCL_") && equals != std::string_view::npos)
      found.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return found;
}

std::string now_text() {
  const auto now =
      std::chrono::time_point_cast<std::chrono::seconds>(std::chrono::system_clock::now());
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(now));
}

struct ProbeCommand {
  int64_t ranks = 1;
  DeviceOptions device;
  ProbeOptions options;
  OutputFile save;
  std::vector<std::string> sets;
  SettingOptions settings;
  JsonOption json;

  void run() const {
    if (save.is_given()) save.check_free();
    const ResolvedRun run = resolve_started(ValidConfig::open_ended(
        with_environment(parse_run_config("", "", settings.overrides(sets)))));
    ProbeReport report;
    started_ranks(run)->run([&](World& world) {
      ProbeReport own = probe(run, world);
      if (world.rank() == 0) report = std::move(own);
    });
    if (!leads_run()) return;
    fmt::print("{}", text_of(report));
    if (save.is_given()) {
      const std::string& file = save.path();
      save.write(file, to_toml(profile_of(report, now_text())));
      fmt::print("\nsaved {}: `ingot plan memory --profile {}` plans for it\n", file, file);
    }
    json.print(to_json(report));
  }

 private:
  ProbeReport probe(const ResolvedRun& run, World& world) const {
    const std::string& cache = run.config.system.cache_dir;
    const Device own = world.process().device;
    ComputeDevice compute(own, run.place.threads_per_rank, cache);
    ProbeOptions asked = options;
    asked.environment = nccl_environment();
    // A machine is measured by one of its ranks, with all of its cores.
    ComputeDevice whole(own, own.kind == DeviceKind::Cpu ? available_cores() : 1, cache);
    return probe_world(world, compute.context(), whole.context(), asked);
  }
};

}  // namespace

void add_probe(Command& program) {
  auto command = std::make_shared<ProbeCommand>();
  auto* probe = program.add_subcommand(
      "probe", "measure devices, links and disks, and say what holds them back");
  command->settings.add(
      "system.ranks",
      probe->add_option("-n,--ranks", command->ranks, "local ranks, if no launcher starts them")
          ->capture_default_str()
          ->between(1, 256));
  command->device.add_to(*probe, command->settings);
  probe->add_option("--dir", command->options.disk_folder, "measure the disk of this folder too");
  probe->add_option("--seconds", command->options.seconds, "about how long to measure links")
      ->capture_default_str()
      ->positive();
  probe->add_option("--max-bytes", command->options.most_bytes, "largest message")
      ->default_str("64MiB")
      ->size_in_bytes()
      ->between(1024, 4e9);
  command->save.add_to(*probe, "--save", "write a hardware profile (TOML)");
  add_sets(*probe, command->sets, "any setting, such as system.backend");
  command->json.add_to(*probe);
  probe->footer(
      "Example: ingot probe -n 4 --dir runs --save here.toml\n"
      "Under mpirun, srun, torchrun or `ingot launch` the same command runs on every rank, and "
      "rank 0 prints.");
  probe->callback([command] { command->run(); });
}

}  // namespace ingot::cli
