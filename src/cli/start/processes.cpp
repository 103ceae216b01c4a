#include "cli/start/processes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "cli/frame/console.h"
#include "cli/launch/hosts.h"
#include "cli/launch/notes.h"
#include "cli/start/cores.h"
#include "cli/start/signals.h"
#include "cli/start/watchdog.h"
#include "core/device/compute_device.h"
#include "core/device/cuda_facts.h"
#include "core/error/stack.h"
#include "core/text/printable.h"
#include "plan/resolve.h"
#include "train/hooks/deadlines.h"

namespace ingot::cli {
namespace {

constexpr int kMostThreads = 256;             // ranks of one process
constexpr std::chrono::seconds kGrace(20);    // for a rank to end after another was lost
constexpr std::chrono::seconds kTelling(30);  // for the others to come and hear of an error

bool is_by_ingot(const Launched& launch) {
  return launch.by == "ingot launch";
}

// That the ranks of this machine may use together. Where a launcher has bound this one, its own
// say nothing of the others': the machine's count, or what Slurm says that it gave of it.
int cores_of_machine(const Launched& launch, const AllowedCores& allowed) {
  const auto here = static_cast<int>(allowed.cores.size());
  if (is_by_ingot(launch) || allowed.are_all()) return here;
  const char* given = environment()("SLURM_CPUS_ON_NODE");
  const int of_node = given != nullptr ? std::atoi(given) : 0;
  return std::min(of_node > 0 ? of_node : allowed.on_machine, here * launch.local_world);
}

// Binds this process to its share, unless its launcher has done so.
void bind_rank(const ResolvedRun& run, const Launched& launch) {
  const AllowedCores allowed = allowed_cores();
  const bool bound_already = !is_by_ingot(launch) && !allowed.are_all();
  if (!run.config.system.bind || launch.local_world == 1 || bound_already) return;
  std::vector<std::vector<int>> near(static_cast<size_t>(launch.local_world));
  const int gpus = run.place.device.kind == DeviceKind::Cuda
                       ? static_cast<int>(cuda_facts()->devices.size())
                       : 0;
  // Who sees one GPU does not know which the others have, and leaves the sharing to the system.
  for (int rank = 0; gpus > 1 && rank < launch.local_world; ++rank)
    if (const auto gpu = gpu_identity(rank % gpus))
      near[static_cast<size_t>(rank)] = cores_near_pci(gpu->pci);
  bind_to(cores_of_rank(allowed.cores, near, launch.local_rank));
}

// On the CPU, and where ranks share GPUs, nobody need ask the others.
CommBackend backend_of(const ResolvedRun& run) {
  const SystemConfig& system = run.config.system;
  const bool own_gpu = run.place.device.kind == DeviceKind::Cuda && !system.share_gpu;
  return system.backend == CommBackend::Auto && !own_gpu ? CommBackend::Tcp : system.backend;
}

Process process_of(const Launched& launch, Device device) {
  return {.rank = launch.rank,
          .world = launch.world,
          .local_rank = launch.local_rank,
          .local_world = launch.local_world,
          .device = device,
          .rendezvous = launch.rendezvous,
          .secret = launch.secret,
          .host = this_machine()};
}

// Of a program that nobody launched: all ranks are in it.
Process whole_world(const ResolvedRun& run) {
  const auto ranks = static_cast<int>(run.config.system.ranks);
  check(ranks <= kMostThreads, ErrorCode::Config,
        "system.ranks = {}: expected at most {} as threads of one process; ingot launch starts "
        "processes",
        ranks, kMostThreads);
  return {.world = ranks, .local_world = ranks, .device = run.place.device, .rendezvous = ""};
}

// Another rank was lost: `ingot launch` is told which, and of one that did not say itself what it
// failed with, people are told what this one did last, and where it stood.
void tell_loss(World& world, const Error& error) {
  if (error.rank() >= 0) note_lost_rank(error.rank());
  const auto lost = world.loss();
  if (lost && lost->code != ErrorCode::Comm) return;
  const std::string speaker = speaker_of(error);
  for (const std::string& line : world.watch().last_records())
    fmt::print(stderr, "ingot: {}  {}\n", speaker, printable(line));
  for (const std::string& line : stack_lines(error.stack()))
    fmt::print(stderr, "ingot: {}  at {}\n", speaker, printable(line));
}

// Ranks of which a lost one is told, and whose threads are ended if they do not end by themselves.
class GuardedRanks final : public RankLauncher {
 public:
  explicit GuardedRanks(std::unique_ptr<RankLauncher> ranks) : ranks_(std::move(ranks)) {}

 private:
  void start(const Body& body) override {
    ranks_->run([&](World& world) {
      RunSignals::ranks_have_met();
      if (world.size() == 1) return body(world);
      try {
        run_guarded(world, body);
      } catch (const Error& error) {
        const bool is_process = !world.process().rendezvous.empty();
        if (is_process && error.code() == ErrorCode::Comm) tell_loss(world, error);
        throw;
      }
    });
  }

  static void run_guarded(World& world, const Body& body) {
    const auto loss = [&]() -> std::optional<std::string> {
      const auto lost = world.loss();
      if (!lost) return std::nullopt;
      return fmt::format("rank {} is lost: {}", lost->rank, lost->why);
    };
    const Watchdog watchdog(loss, world.watch(), kGrace);
    body(world);
  }

  const std::unique_ptr<RankLauncher> ranks_;
};

std::unique_ptr<RankLauncher> guarded(const Process& process, const WorldOptions& options) {
  return std::make_unique<GuardedRanks>(rank_launcher(process, options));
}

std::string program_name() {
  std::error_code ignored;
  return std::filesystem::read_symlink("/proc/self/exe", ignored).filename().string();
}

// mpirun's own words, where it is this process's parent: those before the program's name.
std::string words_of_parent() {
  std::ifstream file(fmt::format("/proc/{}/cmdline", ::getppid()), std::ios::binary);
  std::vector<std::string> words;
  for (std::string word; std::getline(file, word, '\0');) {
    if (std::filesystem::path(word).filename() == program_name()) break;
    words.push_back(word);
  }
  if (words.empty()) return "";
  const std::string name = std::filesystem::path(words[0]).filename();
  const bool is_mpi =
      name == "mpirun" || name == "mpiexec" || name == "orterun" || name == "prterun";
  return is_mpi ? fmt::format("{}", fmt::join(words, " ")) : "";
}

}  // namespace

const std::optional<Launched>& this_launch() {
  static const std::optional<Launched> found = [] {
    const std::optional<Launched> read = launched();
    const std::string other = passed_over();
    if (!other.empty() && (!read || read->rank == 0))
      fmt::print(stderr, "ingot: started by torchrun within srun: {}\n", printable(other));
    return read;
  }();
  return found;
}

bool leads_run() {
  return !this_launch() || this_launch()->rank == 0;
}

RunConfig with_world(RunConfig config) {
  const auto& launch = this_launch();
  if (!launch) return config;
  int64_t& ranks = config.system.ranks;
  check(ranks == 1 || ranks == launch->world, ErrorCode::Usage,
        "system.ranks = {} and {} started {} processes: leave system.ranks out", ranks, launch->by,
        launch->world);
  ranks = launch->world;
  return config;
}

ResolvedRun resolve_started(const ValidConfig& config) {
  const auto& launch = this_launch();
  if (!launch) return resolve_here(config);
  const AllowedCores allowed = allowed_cores();
  return resolve_rank_here(config, {.rank = launch->local_rank,
                                    .ranks = launch->local_world,
                                    .cores = cores_of_machine(*launch, allowed)});
}

std::unique_ptr<RankLauncher> started_ranks(const ResolvedRun& run) {
  const auto& launch = this_launch();
  WorldOptions options{.deadlines = deadlines_of(run.config.system)};
  if (!launch) return guarded(whole_world(run), options);
  bind_rank(run, *launch);
  options.backend = backend_of(run);
  options.variable = [read = environment()](const char* name) {
    const char* value = read(name);
    return std::string(value == nullptr ? "" : value);
  };
  return guarded(process_of(*launch, run.place.device), options);
}

void tell_other_ranks(const Error& error) noexcept {
  try {
    const auto& launch = this_launch();
    if (!launch || launch->rendezvous == "mpi") return;  // mpirun ends the others itself
    WorldOptions options{.backend = CommBackend::Tcp};
    options.deadlines.start = kTelling;
    guarded(process_of(*launch, Device::cpu()), options)->run([&](World&) { throw error; });
  } catch (const std::exception&) {
    // They are not there, or have heard it.
  }
}

RankPlace place_of(const ResolvedRun& run) {
  RankPlace place;
  place.host = this_machine();
  place.device = device_text(run.place.device);
  if (run.place.device.kind == DeviceKind::Cuda)
    if (const auto gpu = gpu_identity(run.place.device.index)) place.gpu = gpu->uuid;
  const AllowedCores allowed = allowed_cores();
  if (!allowed.are_all()) place.cores = text_of_cores(allowed.cores);
  return place;
}

std::string command_to_resume(const std::string& dir) {
  const auto& launch = this_launch();
  const std::string train = fmt::format("train --resume {}", dir);
  if (!launch) return "ingot " + train;
  if (is_by_ingot(*launch)) {
    const char* line = environment()("INGOT_LAUNCH");
    return fmt::format("{} -- {}",
                       line != nullptr ? line : fmt::format("ingot launch -n {}", launch->world),
                       train);
  }
  if (launch->by == "torchrun") return torchrun_command(*launch, train);
  std::string words = launch->by == "mpirun" ? words_of_parent() : "";
  if (words.empty()) words = fmt::format("{} -n {}", launch->by, launch->world);
  return fmt::format("{} ingot {}", words, train);
}

std::string speaker_of(const Error& error) noexcept {
  try {
    if (this_launch()) return fmt::format("rank {}: ", this_launch()->rank);
  } catch (const Error&) {
    return "";  // of the variables that say it
  }
  return error.rank() >= 0 ? fmt::format("rank {}: ", error.rank()) : "";
}

bool is_shown_by_launch(const Error& error) noexcept {
  if (!is_refusal(error.code())) return false;
  try {
    const auto& launch = this_launch();
    if (!launch || !is_by_ingot(*launch)) return false;
    const bool is_own = error.rank() < 0 || error.rank() == launch->rank;
    return !is_own || note_refusal(one_line(error.what()));
  } catch (const Error&) {
    return false;
  }
}

}  // namespace ingot::cli
