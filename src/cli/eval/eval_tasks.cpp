#include "cli/eval/eval_tasks.h"

#include <fmt/format.h>

#include <cmath>
#include <optional>

#include "cli/frame/progress_line.h"
#include "core/error/error.h"
#include "core/text/format.h"
#include "eval/core/core_run.h"
#include "eval/harness/harness_run.h"

namespace ingot::cli {
namespace {

using Json = nlohmann::ordered_json;

// "arc_easy: 120 of 2,376 items, 3 m left".
class TaskProgress {
 public:
  void show(std::string_view task, size_t done, size_t of) {
    if (done == 1) begin_ = line_.seconds();
    if (done == 1 || !line_.is_due()) return;
    const double per_item = (line_.seconds() - begin_) / static_cast<double>(done - 1);
    line_.show(fmt::format("{}: {} of {} items, {} left", task,
                           format_count(static_cast<int64_t>(done)),
                           format_count(static_cast<int64_t>(of)),
                           format_duration(per_item * static_cast<double>(of - done))));
  }

 private:
  ProgressLine line_;
  double begin_ = 0;
};

// Infinity has no place in JSON.
Json number(double value) {
  return std::isfinite(value) ? Json(value) : Json(nullptr);
}
Json numbers(const std::vector<double>& values) {
  Json list = Json::array();
  for (const double value : values) list.push_back(number(value));
  return list;
}

}  // namespace

TaskSet::TaskSet(const TaskOptions& options)
    : options_(options), tasks_(read_task_list(*posix_storage(), options.paths)) {
  check(!options.chat || tasks_.core.empty(), ErrorCode::Usage,
        "--chat: CORE is defined for plain prompts: use --chat with task files (.yaml)");
}

Json TaskSet::run(EvalModel& model, ItemLog& log) const {
  Json result = Json::object();
  if (!tasks_.core.empty()) result["core"] = run_core(model, log);
  if (!tasks_.harness.empty()) result["tasks"] = run_harness(model, log);
  return result;
}

Json TaskSet::run_core(EvalModel& model, ItemLog& log) const {
  Json tasks = Json::array();
  std::vector<CoreTaskResult> results;
  TaskProgress progress;
  fmt::print("{:<34}{:>7}{:>10}{:>9}{:>12}{:>12}\n", "task", "items", "accuracy", "± s.e.",
             "centred v1", "centred v2");
  for (const auto& [task, examples] : tasks_.core) {
    CoreTaskResult result = run_core_task(*task, examples, static_cast<size_t>(options_.max_items),
                                          model.document_ids(), model.scorer(),
                                          [&](const CoreItemResult&, size_t done, size_t of) {
                                            progress.show(task->label, done, of);
                                          });
    for (const CoreItemResult& item : result.items) {
      Json line = {{"task", task->label},
                   {"line", item.line},
                   {"correct", item.is_correct},
                   {"losses", numbers(item.losses)}};
      if (task->kind != CoreKind::LanguageModeling)
        line.update({{"chosen", item.chosen}, {"gold", item.gold}});
      log.write(line);
    }
    const MeanScore accuracy = result.accuracy();
    const double v1 = centred(accuracy.value, task->baseline_v1);
    const double v2 = centred(accuracy.value, task->baseline_v2);
    fmt::print("{:<34}{:>7}{:>10.4f}{:>9.4f}{:>12.4f}{:>12.4f}\n", task->label, accuracy.num,
               accuracy.value, accuracy.standard_error, v1, v2);
    std::fflush(stdout);
    if (result.empty_ranges > 0)
      fmt::print("  {} items have a choice of which nothing is scored: another begins with it\n",
                 result.empty_ranges);
    if (result.broken_prefixes > 0)
      fmt::print("  {} items count as wrong: the prompt's tokens do not begin the whole's\n",
                 result.broken_prefixes);
    tasks.push_back({{"task", task->label},
                     {"items", accuracy.num},
                     {"accuracy", accuracy.value},
                     {"standard_error", accuracy.standard_error},
                     {"centred_v1", v1},
                     {"centred_v2", v2},
                     {"empty_ranges", result.empty_ranges},
                     {"broken_prefixes", result.broken_prefixes}});
    results.push_back(std::move(result));
  }
  Json core = {{"tasks", std::move(tasks)}};
  for (const auto& [name, version] :
       {std::pair{"core_v1", CoreVersion::V1}, std::pair{"core_v2", CoreVersion::V2}}) {
    const CoreScore score = core_score(results, version);
    fmt::print("{} = {}; mean of {}: {:.6f} (95 %: {:.4f} to {:.4f})\n", name, score.text(),
               score.is_core() ? "all tasks" : "the tasks above", score.mean, score.interval.low,
               score.interval.high);
    core[name] = score.is_core() ? Json(score.mean) : Json(nullptr);
    core[std::string(name) + "_mean"] = score.mean;
    core[std::string(name) + "_interval"] = {score.interval.low, score.interval.high};
  }
  if (options_.max_items > 0)
    fmt::print("of each task {} items at most\n", format_count(options_.max_items));
  return core;
}

Json TaskSet::run_harness(EvalModel& model, ItemLog& log) const {
  std::optional<ChatFormat> chat;
  if (options_.chat) chat.emplace(model.chat_format());
  if (chat && chat->is_base_model())
    fmt::print(stderr,
               "base model: it came without a chat template, so prompts are written as ChatML, "
               "which it may not know\n");
  const HarnessIds ids{.ids = model.prompt_ids(),
                       .empty_id = model.document_ids().first_id,
                       .chat = chat ? &*chat : nullptr,
                       .max_tokens = model.config().context};
  Json tasks = Json::array();
  TaskProgress progress;
  fmt::print("{:<34}{:>7}  {:<16}{:>12}{:>9}\n", "task", "items", "metric", "value", "± s.e.");
  for (const HarnessTask& task : tasks_.harness) {
    const HarnessResult result =
        run_harness_task(task, static_cast<size_t>(options_.max_items), ids, model.scorer(),
                         [&](const HarnessItemResult&, size_t done, size_t of) {
                           progress.show(task.name, done, of);
                         });
    for (const HarnessItemResult& item : result.items) {
      Json line = {{"task", task.name}, {"document", item.index}};
      if (task.kind != HarnessKind::LoglikelihoodRolling) line["correct"] = item.is_correct;
      if (!item.logprobs.empty()) line["logprobs"] = numbers(item.logprobs);
      if (task.kind == HarnessKind::MultipleChoice)
        line.update({{"chosen", item.chosen},
                     {"chosen_by_byte", item.chosen_by_byte},
                     {"gold", item.gold}});
      if (task.kind == HarnessKind::GenerateUntil) line["generated"] = item.generated;
      log.write(line);
    }
    if (result.cut_prompts > 0)
      fmt::print("  {} prompts lost their beginning to make room for new tokens\n",
                 format_count(result.cut_prompts));
    Json metrics = Json::object();
    for (const auto& [name, score] : result.metrics()) {
      fmt::print("{:<34}{:>7}  {:<16}{:>12.4f}{:>9}\n", task.name, result.items.size(), name,
                 score.value,
                 score.standard_error > 0 ? fmt::format("{:.4f}", score.standard_error) : "");
      metrics[name] = {{"value", number(score.value)}, {"standard_error", score.standard_error}};
    }
    std::fflush(stdout);
    tasks.push_back({{"task", task.name}, {"items", result.items.size()}, {"metrics", metrics}});
  }
  return tasks;
}

}  // namespace ingot::cli
