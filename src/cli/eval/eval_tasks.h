// `ingot eval --tasks`: CORE, and task files of lm-evaluation-harness.
#pragma once

#include <string>
#include <vector>

#include "cli/eval/eval_model.h"
#include "cli/eval/item_log.h"
#include "eval/task_list.h"

namespace ingot::cli {

struct TaskOptions {
  std::vector<std::string> paths;  // folders of CORE, folders of task files, or task files
  int64_t max_items = 0;           // per task; 0: all
  bool chat = false;
};

// The tasks that --tasks names. The constructor reads and checks every file.
class TaskSet {
 public:
  explicit TaskSet(const TaskOptions& options);
  // Prints a table on stdout and progress on stderr. Returns what --json prints.
  nlohmann::ordered_json run(EvalModel& model, ItemLog& log) const;

 private:
  nlohmann::ordered_json run_core(EvalModel& model, ItemLog& log) const;
  nlohmann::ordered_json run_harness(EvalModel& model, ItemLog& log) const;

  TaskOptions options_;
  TaskList tasks_;
};

}  // namespace ingot::cli
