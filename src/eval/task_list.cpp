#include "eval/task_list.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "core/error/error.h"
#include "eval/core/core_run.h"

namespace ingot {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> task_files(const std::string& folder) {
  std::vector<std::string> files;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string ending = entry.path().extension().string();
    if (ending == ".yaml" || ending == ".yml") files.push_back(entry.path().string());
  }
  std::ranges::sort(files);
  return files;
}

// Whether the folder holds any.
bool add_core_files(Storage& storage, const std::string& folder, TaskList& list) {
  const std::vector<std::string> found = find_core_files(folder);
  bool is_core = false;
  for (size_t i = 0; i < found.size(); ++i) {
    if (found[i].empty()) continue;
    const CoreTask& task = core_tasks()[i];
    const bool is_there = std::ranges::any_of(
        list.core, [&](const TaskList::CoreFile& file) { return file.task == &task; });
    check(!is_there, ErrorCode::Usage, "{}: {} is in another of these folders too", folder,
          task.label);
    list.core.push_back({&task, read_core_file(storage, found[i], task.kind)});
    is_core = true;
  }
  return is_core;
}

// To whom everything is certain.
class NoModel final : public Scorer {
 public:
  explicit NoModel(int64_t max_tokens) : max_tokens_(max_tokens) {}
  void score(std::span<const ScoreItem> items, const OnItem& on_item) override {
    for (size_t i = 0; i < items.size(); ++i) {
      Scores scores;
      for (const auto& [ids, first_scored] : items[i].sequences)
        scores.emplace_back(ids.size() - std::min(ids.size(), first_scored));
      on_item(i, scores);
    }
  }
  std::vector<int32_t> continue_greedily(std::span<const int32_t>, int64_t,
                                         const IsDone&) override {
    return {};
  }
  int64_t max_tokens() const override { return max_tokens_; }

 private:
  int64_t max_tokens_;
};

}  // namespace

TaskList read_task_list(Storage& storage, const std::vector<std::string>& paths) {
  TaskList list;
  for (const std::string& path : paths) {
    check(fs::exists(path), ErrorCode::Data, "{}: no such file or folder", path);
    if (!fs::is_directory(path)) {
      list.harness.push_back(read_harness_task(storage, path));
      continue;
    }
    if (add_core_files(storage, path, list)) continue;
    const std::vector<std::string> files = task_files(path);
    check(!files.empty(), ErrorCode::Data,
          "{}: no tasks: expected files of CORE (arc_easy.jsonl, …) or task files (.yaml)", path);
    for (const std::string& file : files) list.harness.push_back(read_harness_task(storage, file));
  }
  return list;
}

std::vector<TaskScore> score_tasks(const TaskList& tasks, size_t max_items,
                                   const PromptIds& documents, const HarnessIds& harness,
                                   Scorer& scorer) {
  std::vector<TaskScore> scores;
  std::vector<CoreTaskResult> core;
  int64_t all_cut = 0;  // of CORE
  for (const auto& [task, examples] : tasks.core) {
    const int64_t before = scorer.counts().over_limit;
    core.push_back(run_core_task(*task, examples, max_items, documents, scorer,
                                 [](const CoreItemResult&, size_t, size_t) {}));
    const int64_t cut = scorer.counts().over_limit - before;
    scores.push_back({.task = std::string(task->label),
                      .metric = "acc",
                      .score = core.back().accuracy(),
                      .cut_prompts = cut});
    all_cut += cut;
  }
  if (!core.empty())
    for (const auto& [name, version] :
         {std::pair{"core_v1", CoreVersion::V1}, std::pair{"core_v2", CoreVersion::V2}}) {
      const CoreScore mean = core_score(core, version);
      scores.push_back({.task = name,
                        .metric = mean.is_core() ? "core" : "mean",
                        .score = {.value = mean.mean, .num = static_cast<int64_t>(mean.tasks)},
                        .interval = mean.interval,
                        .cut_prompts = all_cut});
    }
  for (const HarnessTask& task : tasks.harness) {
    const int64_t before = scorer.counts().over_limit;
    const HarnessResult result = run_harness_task(task, max_items, harness, scorer,
                                                  [](const HarnessItemResult&, size_t, size_t) {});
    const int64_t cut = scorer.counts().over_limit - before + result.cut_prompts;
    for (const auto& [name, score] : result.metrics())
      scores.push_back({.task = task.name, .metric = name, .score = score, .cut_prompts = cut});
  }
  return scores;
}

void check_tasks(const TaskList& tasks, size_t max_items, const PromptIds& documents,
                 const HarnessIds& harness) {
  NoModel model(harness.max_tokens);
  score_tasks(tasks, max_items, documents, harness, model);
}

}  // namespace ingot
