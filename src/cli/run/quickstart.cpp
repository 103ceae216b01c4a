// ingot quickstart: from a text to a model and samples from it, in a few minutes.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "cli/frame/command.h"
#include "cli/run/terminal.h"
#include "cli/start/machine.h"
#include "cli/start/processes.h"
#include "cli/start/signals.h"
#include "core/error/error.h"
#include "core/storage/mapped_file.h"
#include "feed/text_files.h"
#include "infer/reply.h"
#include "train/start/resume.h"
#include "train/step/bench_step.h"

namespace ingot::cli {
namespace {

constexpr std::string_view kRecipe = R"(
preset = "llama_quickstart"
[batch]
micro_batch = 16
seq = 256
[optim]
lr = 2e-3
weight_decay = 0.1
[optim.schedule]
kind = "cosine"
unit = "steps"
warmup_fraction = 0.05
final_fraction = 0.05
)";

struct QuickstartCommand {
  std::string text;
  double minutes = 4.0;
  std::string out = "runs/quickstart";
  std::vector<std::string> sets;
  JsonOption json;

  Exit run() const {
    if (const auto& launch = this_launch())
      throw Error(ErrorCode::Usage,
                  fmt::format("quickstart is one process, and {} started {}: use train with a "
                              "recipe",
                              launch->by, launch->world));
    const auto storage = posix_storage();
    const std::string dir = folder(*storage);
    const nlohmann::json earlier = record_in(*storage, dir);
    if (earlier.contains("result")) {
      fmt::print("{} did this already; --out FOLDER trains anew\n", dir);
      show(*storage, dir, earlier["result"]);
      return Exit::Done;
    }
    const bool resume = !earlier.is_null();
    const RunConfig config =
        resume ? with_environment(saved_run(storage, dir, {}).config) : timed_config(*storage, dir);
    const ResolvedRun resolved = resolve_started(config);
    const auto ranks = started_ranks(resolved);
    QuickstartProgress progress(config, resolved, *this);
    const RunSignals signals;
    TrainOptions options;
    options.resume = resume;
    options.stop = signals.stop();
    options.save = signals.save();
    options.ranks = ranks.get();
    options.sinks = {&progress};
    options.peak = progress.peak();
    const TrainResult result = train(storage, resolved, options);
    nlohmann::json line = {{"steps", result.state.step},
                           {"tokens", result.state.tokens},
                           {"checkpoint", result.checkpoint},
                           {"stopped", result.stopped}};
    line.update(to_json(result.counts));
    if (result.stopped) {
      fmt::print("stopped after step {}; the model so far is in {}; the same command resumes\n",
                 result.state.step, dir);
      json.print(line);
      return Exit::Stopped;
    }
    if (result.eval) {
      const double loss = result.eval->loss;
      line["valid_loss"] = loss;
      line["valid_perplexity"] = std::exp(loss);
      line["bits_per_byte"] = result.eval->bits_per_byte.value_or(loss / std::log(2.0));
    }
    write_file_atomically(*storage, join_path(dir, kSamplesName), samples(resolved));
    write_record(*storage, dir, line);
    show(*storage, dir, line);
    return Exit::Done;
  }

 private:
  static constexpr std::string_view kRecordName = "quickstart.json", kSamplesName = "samples.txt";

  // Leaves in the run's folder what was asked for, so that the same command finds it again.
  class QuickstartProgress final : public TerminalProgress {
   public:
    QuickstartProgress(const RunConfig& config, const ResolvedRun& resolved,
                       const QuickstartCommand& command)
        : TerminalProgress(config, [&resolved] { return quick_peak_flops(resolved); }),
          command_(command) {}
    void begin(const RunFacts& facts) override {
      TerminalProgress::begin(facts);
      command_.write_record(*posix_storage(), facts.run_dir, nullptr);
    }

   private:
    const QuickstartCommand& command_;
  };

  nlohmann::json asked() const { return {{"text", text}, {"minutes", minutes}, {"sets", sets}}; }

  // Of the text; empty where it is gone, or is none.
  std::string content() const {
    constexpr uint64_t kOdd = 0x9E3779B97F4A7C15;
    uint64_t hash = 0;
    try {
      for (const std::string& file : text_files(text, {.txt_only = true, .refuses = true}, "byte"))
        hash = hash * kOdd + MappedFile(file).content_hash();
    } catch (const Error&) {
      return "";
    }
    return fmt::format("{:016x}", hash);
  }

  void write_record(Storage& storage, const std::string& dir, const nlohmann::json& result) const {
    nlohmann::json record = {{"asked", asked()}, {"content", content()}};
    if (!result.is_null()) record["result"] = result;
    write_file_atomically(storage, join_path(dir, kRecordName), record.dump() + "\n");
  }

  // Null where there is none of the same request.
  nlohmann::json record_in(Storage& storage, const std::string& dir) const {
    const std::string path = join_path(dir, kRecordName);
    if (!storage.exists(path)) return nullptr;
    nlohmann::json record = nlohmann::json::parse(read_text(storage, path), nullptr, false);
    if (!record.is_object() || record.value("asked", nlohmann::json()) != asked()) return nullptr;
    const std::string was = record.value("content", std::string()), is = content();
    return was.empty() || is.empty() || was == is ? record : nullptr;
  }

  // Where the same was asked for before, or else a free one: runs/quickstart, runs/quickstart-2, …
  std::string folder(Storage& storage) const {
    std::string dir = out;
    for (int n = 2; storage.exists(dir) && record_in(storage, dir).is_null(); ++n)
      dir = fmt::format("{}-{}", out, n);
    return dir;
  }

  // Steps are chosen by timing a few, so that the run takes about the asked minutes on any machine.
  RunConfig timed_config(Storage& storage, const std::string& dir) const {
    check(storage.exists(text), ErrorCode::Usage,
          "there is no text at {}: give --text FILE (or a folder of .txt files), or use ./run "
          "quickstart, which fetches some",
          text);
    Overrides overrides = {{"data.train", text}, {"train.steps", "1"}, {"checkpoint.dir", dir}};
    for (auto& override : parse_sets(sets)) overrides.push_back(std::move(override));
    RunConfig config = with_environment(parse_run_config(kRecipe, "quickstart", overrides));
    const ValidConfig asked(config);
    fmt::print(stderr, "timing a step …\n");
    RunConfig one_rank = *asked;  // of several, which share the cores
    one_rank.system.ranks = 1;
    const double step_seconds =
        static_cast<double>(config.system.ranks) *
        bench_train_step(resolve_started(one_rank), {.steps = 2}).step_seconds;
    config.train.steps = std::max<int64_t>(20, std::llround(60.0 * minutes / step_seconds));
    config.train.eval_every = std::max<int64_t>(10, config.train.steps / 5);
    config.checkpoint.every = config.train.eval_every;
    config.train.log_every = std::max<int64_t>(1, config.train.steps / 40);
    return config;
  }

  static std::string samples(const ResolvedRun& run) {
    const auto compute = open_device(run);
    LoadedModel model(compute->context(), posix_storage(), run.config.checkpoint.dir, {});
    std::string all;
    for (const std::string prompt : {"The ", "In the beginning", "A house is "}) {
      SamplingOptions sampling;
      sampling.temperature = 0.8;
      sampling.top_k = 40;
      all += "--- sample\n" + prompt + write_text(model, prompt, 240, sampling).text;
      all += "\n\n";
    }
    return all;
  }

  void show(Storage& storage, const std::string& dir, const nlohmann::json& result) const {
    if (result.contains("valid_loss"))
      fmt::print("\nvalidation loss {:.4f} nats per byte, {:.4f} bits per byte\n",
                 result.value("valid_loss", 0.0), result.value("bits_per_byte", 0.0));
    fmt::print("\n{}", read_text(storage, join_path(dir, kSamplesName)));
    say_what_next(dir);
    json.print(result);
  }

  static void say_what_next(const std::string& dir) {
    fmt::print(
        "What next:\n"
        "  ingot generate {0} --prompt \"Once \"     more text from this model\n"
        "  ingot checkpoint ls {0}              what was saved\n"
        "  ingot quickstart --text YOUR.txt --minutes 10\n"
        "  ingot config show --set preset=llama_10m    a larger model; recipes/ has whole runs\n"
        "  ingot bench limit                    how fast this machine could train\n",
        dir);
  }
};

}  // namespace

void add_quickstart(Command& app) {
  auto command = std::make_shared<QuickstartCommand>();
  command->text = "build/quickstart/text";
  auto* quickstart = app.add_subcommand(
      "quickstart", "train a small model on a text in minutes and sample from it");
  quickstart->add_option("--text", command->text, "text file or folder of .txt files")
      ->capture_default_str();
  quickstart->add_option("--minutes", command->minutes, "about how long to train")
      ->capture_default_str()
      ->positive();
  quickstart->add_option("--out", command->out, "run folder")->capture_default_str();
  add_sets(*quickstart, command->sets, "any setting");
  command->json.add_to(*quickstart);
  quickstart->callback([command] { return command->run(); });
}

}  // namespace ingot::cli
