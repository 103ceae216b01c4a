// ingot eval MODEL
#include <fmt/format.h>

#include <memory>

#include "cli/eval/eval_prompts.h"
#include "cli/eval/eval_run.h"
#include "cli/eval/eval_tasks.h"
#include "cli/eval/eval_text.h"
#include "cli/frame/command.h"
#include "cli/frame/weight_options.h"
#include "cli/start/model_argument.h"
#include "core/error/error.h"
#include "core/text/format.h"

namespace ingot::cli {
namespace {

struct EvalCommand {
  std::string model_path, timeline, watch;
  TextOptions text;
  TaskOptions tasks;
  int64_t max_items = 0;
  bool prompts = false;
  OutputFile out;
  WeightOptions weights;
  DeviceOptions device;
  JsonOption json;

  void run() {
    text.max_documents = tasks.max_items = max_items;
    check_options();
    if (out.is_given()) out.check_free();
    const TaskSet task_set(tasks);
    const auto compute = device.open();
    ItemLog log(out);
    const OpenEvalModel open = [&](const std::string& path) {
      return EvalModel(compute->context(), path, weights.format());
    };
    const ScoreModel score = [&](EvalModel& model) { return scores_of(model, task_set, log); };
    nlohmann::ordered_json result;
    if (!watch.empty()) {
      watch_run(open, watch, score);
    } else if (!timeline.empty()) {
      result = {{"run", timeline},
                {"checkpoints", run_timeline(open, timeline, is_scored() ? score : ScoreModel())}};
    } else {
      EvalModel model = open(model_path);
      result = {{"model", model_path}};
      result.update(score(model));
    }
    log.publish();
    json.print(result);
  }

 private:
  bool is_scored() const { return !text.paths.empty() || !tasks.paths.empty(); }

  void check_options() const {
    const int models = !model_path.empty() + !timeline.empty() + !watch.empty();
    check(models == 1, ErrorCode::Usage,
          "expected one of MODEL, --timeline RUN and --watch RUN, got {}", models);
    check(is_scored() || prompts || !timeline.empty(), ErrorCode::Usage,
          "nothing to evaluate: give --text PATH, --tasks PATH or --prompts");
    check(!tasks.chat || !tasks.paths.empty(), ErrorCode::Usage,
          "--chat: it is for the prompts of --tasks");
    check(max_items == 0 || is_scored(), ErrorCode::Usage,
          "--max-items: it is for items of --tasks and documents of --text");
    check(watch.empty() || !out.is_given(), ErrorCode::Usage,
          "--out: --watch writes {} in the run folder", kWatchedName);
  }

  nlohmann::ordered_json scores_of(EvalModel& model, const TaskSet& task_set, ItemLog& log) const {
    nlohmann::ordered_json result = nlohmann::ordered_json::object();
    if (!text.paths.empty()) result["text"] = run_text(text, model, log);
    if (!tasks.paths.empty()) result.update(task_set.run(model, log));
    if (prompts) result.update(run_prompts(model, log));
    report_counts(model.scorer().counts(), model.config().context);
    return result;
  }

  static void report_counts(const ScoreCounts& counts, int64_t context) {
    fmt::print(stderr,
               "{} tokens scored, {} computed ({} saved by shared prefixes), logits of {}\n",
               format_count(counts.tokens), format_count(counts.computed),
               format_percent(std::max<int64_t>(0, counts.tokens - counts.computed),
                              std::max<int64_t>(1, counts.tokens), 1),
               format_count(counts.logit_rows));
    if (counts.over_limit > 0)
      fmt::print(stderr, "{} prompts lost their beginning: the model has positions for {} tokens\n",
                 format_count(counts.over_limit), format_count(context));
    if (counts.past_context > counts.over_limit)
      fmt::print(stderr, "{} prompts are longer than the model's context of {} tokens\n",
                 format_count(counts.past_context), format_count(context));
  }
};

}  // namespace

void add_eval(Command& program) {
  auto command = std::make_shared<EvalCommand>();
  auto* eval = program.add_subcommand("eval", "score a model: perplexity, CORE, task files");
  eval->add_option("model", command->model_path, std::string(kModelPaths));
  eval->add_option("--text", command->text.paths,
                   "texts (as data clean reads them): perplexity and bits per byte");
  eval->add_option("--tasks", command->tasks.paths,
                   "folder of CORE's files, or task files of lm-evaluation-harness (.yaml)");
  eval->add_flag("--prompts", command->prompts,
                 "completions and questions about the world, in English and Chinese");
  eval->add_option("--timeline", command->timeline,
                   "run folder: answers and scores of all its checkpoints, side by side");
  eval->add_option(
      "--watch", command->watch,
      "run folder: scores each checkpoint when it is saved, until the run is complete");
  eval->add_option("--window", command->text.window,
                   "tokens of a window of --text; unless given, the model's context")
      ->positive();
  eval->add_option("--stride", command->text.stride,
                   "tokens between windows; unless given, half a window")
      ->positive();
  eval->add_option("--max-items", command->max_items,
                   "items of each task, and documents of --text, at most; 0 = all")
      ->capture_default_str()
      ->not_negative();
  eval->add_flag("--chat", command->tasks.chat,
                 "put the prompts of task files through the model's chat template");
  command->weights.add_weights_to(*eval);
  command->text.read.add_to(*eval);
  command->out.add_to(*eval, "--out", "file for a line of JSON about each item (.jsonl)");
  command->device.add_to(*eval);
  command->json.add_to(*eval);
  eval->callback([command] { command->run(); });
}

}  // namespace ingot::cli
