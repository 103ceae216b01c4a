// ingot smoke: does a run work here, from the first step to a model that speaks?
#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <filesystem>
#include <memory>

#include "cli/frame/command.h"
#include "cli/start/machine.h"
#include "cli/start/processes.h"
#include "core/error/error.h"
#include "core/storage/storage.h"
#include "core/system/timing.h"
#include "infer/reply.h"
#include "train/trainer.h"

namespace ingot::cli {
namespace {

constexpr std::string_view kRecipe = R"(
preset = "llama_test"
[batch]
micro_batch = 2
seq = 32
[train]
eval_tokens = 64
[optim]
lr = 1e-2
[optim.schedule]
kind = "constant"
)";
constexpr int64_t kNewTokens = 8;

// Losses of the first and of the last step.
class Losses final : public Sink {
 public:
  void take(const RunRecord& record) override {
    const auto* step = std::get_if<StepReport>(&record);
    if (step == nullptr) return;
    if (steps == 0) first = step->loss;
    last = step->loss;
    ++steps;
  }
  int64_t steps = 0;
  double first = 0.0, last = 0.0;
};

// What a failure leaves to try.
std::string_view remedy_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::Comm:
      return "`ingot probe` on the same ranks says which link is slow; is every host reached by "
             "the "
             "rendezvous's name?";
    case ErrorCode::Config:
    case ErrorCode::Usage:
      return "`ingot config show` checks settings; the same command must run on every rank";
    case ErrorCode::Storage:
    case ErrorCode::Data:
      return "--dir FOLDER on a file system that every host sees and can write";
    case ErrorCode::Memory:
      return "fewer ranks a host";
    case ErrorCode::Device:
    case ErrorCode::Missing:
      return "`ingot version` says what this build and machine have; --device cpu";
    case ErrorCode::Numeric:
    case ErrorCode::Internal:
      return "the same command with -n 1, and please report it";
  }
  return "";
}

// The same on all ranks, and no other command's: in `folder`, or among temporary files where one
// machine has all ranks, else in the working folder, which launchers make the same on all.
std::string smoke_folder(const std::string& folder) {
  namespace fs = std::filesystem;
  const auto& launch = this_launch();
  const bool one_machine = !launch || launch->local_world == launch->world;
  const std::string root = !folder.empty() ? folder
                           : one_machine   ? fs::temp_directory_path().string()
                                           : fs::current_path().string();
  if (!launch) return join_path(root, fmt::format("ingot-smoke-{}", getpid()));
  std::string job = launch->by + launch->rendezvous + launch->secret;
  for (const char* name : {"PMIX_NAMESPACE", "SLURM_JOB_ID", "SLURM_STEP_ID"})
    if (const char* value = environment()(name)) job += value;
  return join_path(root, fmt::format("ingot-smoke-{:016x}", std::hash<std::string>{}(job)));
}

// A folder of this command's own, which goes with it, as do those above it that it made.
class OwnFolder {
 public:
  explicit OwnFolder(std::string path) : path_(std::move(path)) {}
  ~OwnFolder() {
    if (!leads_run()) return;
    std::error_code ignored;  // what cannot be removed was not made either, or is the disk's end
    std::filesystem::remove_all(path_, ignored);
    for (const std::string& folder : made_above_) std::filesystem::remove(folder, ignored);
  }
  OwnFolder(const OwnFolder&) = delete;
  OwnFolder& operator=(const OwnFolder&) = delete;

  std::string file(const char* name) const { return join_path(path_, name); }
  // By rank 0, before the others look.
  void make() {
    std::filesystem::remove_all(path_);  // of a smoke that was killed
    for (std::string above = parent_path(path_);
         !std::filesystem::exists(above) && above != parent_path(above); above = parent_path(above))
      made_above_.push_back(above);
    std::string text;
    for (int i = 0; i < 400; ++i) text += fmt::format("line {} of a text to learn\n", i % 10);
    posix_storage()->make_directories(path_);
    write_file_atomically(*posix_storage(), file("text.txt"), text);
  }

 private:
  std::string path_;
  std::vector<std::string> made_above_;  // the innermost first
};

// Ranks that find the text there.
class RanksWithText final : public RankLauncher {
 public:
  RanksWithText(RankLauncher& ranks, OwnFolder& folder) : ranks_(ranks), folder_(folder) {}

 private:
  void start(const Body& body) override {
    ranks_.run([&](World& world) {
      if (world.rank() == 0) folder_.make();
      world.control().barrier("smoke: a text to learn");
      body(world);
    });
  }

  RankLauncher& ranks_;
  OwnFolder& folder_;
};

struct SmokeCommand {
  int64_t ranks = 0;  // not given
  int64_t steps = 12;
  std::string dir;
  DeviceOptions device;
  std::vector<std::string> sets;
  SettingOptions settings;
  JsonOption json;

  Exit run() {
    if (ranks == 0) ranks = this_launch() ? 1 : 2;
    const auto start = std::chrono::steady_clock::now();
    const auto seconds = [&] { return seconds_since(start); };
    nlohmann::json line = {{"ok", false}, {"steps", steps}};
    try {
      OwnFolder folder(smoke_folder(dir));
      const ResolvedRun run = resolved(folder);
      line["ranks"] = run.config.system.ranks;
      const Losses losses = train_and_generate(run, folder);
      if (!leads_run()) return Exit::Done;
      line.update({{"ok", true},
                   {"first_loss", losses.first},
                   {"last_loss", losses.last},
                   {"seconds", seconds()}});
      fmt::print(
          "smoke: ok: {} rank{}, {} steps, loss {:.2f} → {:.2f}, saved, loaded on one rank, "
          "generated; {:.1f} s\n",
          run.config.system.ranks, run.config.system.ranks == 1 ? "" : "s", losses.steps,
          losses.first, losses.last, seconds());
      json.print(line);
      return Exit::Done;
    } catch (const Error& error) {
      if (!leads_run() || error.code() == ErrorCode::Usage) throw;
      const std::string rank = error.rank() >= 0 ? fmt::format("rank {}: ", error.rank()) : "";
      fmt::print("smoke: failed after {:.1f} s: {}{}; try: {}\n", seconds(), rank, error.what(),
                 remedy_of(error.code()));
      line.update({{"failure", rank + error.what()}, {"seconds", seconds()}});
      json.print(line);
      return error.code() == ErrorCode::Comm ? Exit::RankLost : Exit::Failed;
    }
  }

 private:
  ResolvedRun resolved(const OwnFolder& folder) const {
    Overrides overrides = {{"data.train", folder.file("text.txt")},
                           {"checkpoint.dir", folder.file("run")},
                           {"system.data_parallel", "fully_sharded"}};
    // A run of seconds need not wait for half an hour.
    for (const char* wait : {"start", "collective", "save", "validation"})
      overrides.emplace_back(fmt::format("system.timeout_{}", wait), "60");
    overrides.emplace_back("system.timeout_silence", "20");
    for (auto& override : settings.overrides(sets)) overrides.push_back(std::move(override));
    return resolve_started(with_environment(parse_run_config(kRecipe, "smoke", overrides)));
  }

  Losses train_and_generate(const ResolvedRun& run, OwnFolder& folder) const {
    Losses losses;
    const auto started = started_ranks(run);
    TrainOptions options;
    options.sinks = {&losses};
    options.build = build_text();
    options.place = place_of(run);
    RanksWithText with_text(*started, folder);
    options.ranks = &with_text;
    train(posix_storage(), run, options);
    if (!leads_run()) return losses;
    check(losses.last < losses.first && std::isfinite(losses.last), ErrorCode::Numeric,
          "the loss went from {:.3f} to {:.3f} in {} steps: expected it to fall", losses.first,
          losses.last, losses.steps);
    const auto compute = open_device(run);
    LoadedModel model(compute->context(), posix_storage(), run.config.checkpoint.dir, {});
    SamplingOptions greedy;
    greedy.temperature = 0;
    const Reply reply = write_text(model, "line", kNewTokens, greedy);
    check(!reply.ids.empty(), ErrorCode::Internal, "the model that was saved generated nothing");
    return losses;
  }
};

}  // namespace

void add_smoke(Command& program) {
  auto command = std::make_shared<SmokeCommand>();
  auto* smoke = program.add_subcommand(
      "smoke", "train, save, load and generate on these ranks, in seconds: does it work here?");
  smoke->add_option("-n,--ranks", command->ranks, "local ranks, if no launcher starts them")
      ->default_str("2")
      ->between(1, 256);
  command->settings.add("system.ranks", smoke->get_option("--ranks"));
  command->settings.add("train.steps",
                        smoke->add_option("--steps", command->steps, "training steps")
                            ->capture_default_str()
                            ->between(2, 1000));
  smoke->add_option("--dir", command->dir,
                    "folder for a folder of its own, which it removes; with several hosts on a "
                    "file system that all see");
  command->device.add_to(*smoke, command->settings);
  add_sets(*smoke, command->sets, "any setting");
  command->json.add_to(*smoke);
  smoke->footer(
      "Example: ingot smoke -n 4\n"
      "         mpirun -n 4 ingot smoke\n"
      "Exits with 0, with 1 where something failed, with 4 where a rank was lost.");
  smoke->callback([command] { return command->run(); });
}

}  // namespace ingot::cli
