// Tasks of any kind, and their scores.
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

// Reads all files in `paths`: folders of CORE's files, task files of lm-evaluation-harness (.yaml)
// and folders of such files. Throws ErrorCode::Data for a file that is no task, ErrorCode::Usage
// for a task of CORE that is given twice.
TaskList read_task_list(Storage& storage, const std::vector<std::string>& paths);

struct TaskScore {
  std::string task, metric;
  MeanScore score;  // without a standard error if it is no mean over items
  std::optional<Interval> interval = {};
  int64_t cut_prompts = 0;  // of the task, that lost their beginning: they are beyond the context
};

// Scores all tasks, at most max_items of each (0: all), then the mean of CORE in both versions.
// `documents`: how texts of CORE become ids; `harness`: how texts of task files become ids.
std::vector<TaskScore> score_tasks(const TaskList& tasks, size_t max_items,
                                   const PromptIds& documents, const HarnessIds& harness,
                                   Scorer& scorer);

// Throws what score_tasks() would throw for errors in the tasks; needs no model.
void check_tasks(const TaskList& tasks, size_t max_items, const PromptIds& documents,
                 const HarnessIds& harness);

}  // namespace ingot
