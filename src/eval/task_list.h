// Tasks of any kind, and all of their scores.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/storage/storage.h"
#include "eval/core/core_tasks.h"
#include "eval/harness/harness_run.h"

namespace ingot {

struct TaskList {
  struct CoreFile {
    const CoreTask* task;
    std::vector<CoreExample> examples;
  };
  std::vector<CoreFile> core;
  std::vector<HarnessTask> harness;
};

// `paths`: folders of CORE's files, task files of lm-evaluation-harness (.yaml), folders of such
// files. Reads every file. Throws ErrorCode::Data for what is no task, ErrorCode::Usage for a task
// of CORE that is there twice.
TaskList read_task_list(Storage& storage, const std::vector<std::string>& paths);

struct TaskScore {
  std::string task, metric;
  MeanScore score;  // without standard error where it is no mean over items
  std::optional<Interval> interval = {};
};

// All tasks, at most max_items of each (0: all), then the mean over those of CORE in both versions.
// `documents`: what texts of CORE begin with; `harness`: how task files' texts become ids.
std::vector<TaskScore> score_tasks(const TaskList& tasks, size_t max_items,
                                   const PromptIds& documents, const HarnessIds& harness,
                                   Scorer& scorer);

// Throws as score_tasks() would for what is wrong with the tasks, without a model.
void check_tasks(const TaskList& tasks, size_t max_items, const PromptIds& documents,
                 const HarnessIds& harness);

}  // namespace ingot
