// `ingot eval --tasks`: CORE, and task files of lm-evaluation-harness.
#pragma once

#include <string>
#include <vector>

#include "cli/eval/eval_model.h"
#include "cli/eval/item_log.h"
#include "eval/task_list.h"

namespace ingot::cli {

struct TaskOptions {
  std::vector<std::string> paths;  // folders of CORE's files, folders of task files, task files
  int64_t max_items = 0;           // of each task; 0: all
  bool chat = false;
};

// What --tasks names. Reading it checks every file, before anything is computed.
class TaskSet {
 public:
  explicit TaskSet(const TaskOptions& options);
  // Prints a table on stdout, and how far it has come on stderr. Returns what --json prints.
  nlohmann::ordered_json run(EvalModel& model, ItemLog& log) const;

 private:
  nlohmann::ordered_json run_core(EvalModel& model, ItemLog& log) const;
  nlohmann::ordered_json run_harness(EvalModel& model, ItemLog& log) const;

  TaskOptions options_;
  TaskList tasks_;
};

}  // namespace ingot::cli
