// Scores a model on CORE's tasks.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "eval/core/core_tasks.h"
#include "eval/prompt_ids.h"
#include "eval/scorer.h"
#include "eval/statistics.h"

namespace ingot {

struct CoreItemResult {
  size_t line = 0;  // in the task's file, from 0
  bool is_correct = false;
  // Mean loss of each option; the lowest one is chosen. It is infinite if nothing was left to
  // score. Language modeling has one, of the continuation.
  std::vector<double> losses = {};
  size_t chosen = 0, gold = 0;
};

struct CoreTaskResult {
  const CoreTask* task = nullptr;
  std::vector<CoreItemResult> items = {};  // in the order of evaluation
  int64_t empty_ranges = 0;                // items with an option that had nothing to score
  int64_t broken_prefixes = 0;  // items without prefix_holds (core_prompts.h); they are wrong

  MeanScore accuracy() const;
};

// The score with one version of the baselines.
struct CoreScore {
  double mean = 0.0;  // of the tasks' centred accuracies; CORE if all tasks ran
  Interval interval = {};
  size_t tasks = 0;

  bool is_core() const;
  std::string text() const;  // "0.2565", or "n/a (11 of 22 tasks)"
};
enum class CoreVersion { V1, V2 };
double baseline_of(const CoreTask& task, CoreVersion version);
CoreScore core_score(const std::vector<CoreTaskResult>& results, CoreVersion version);

// Called after each item, in any order within the task.
using OnCoreItem = std::function<void(const CoreItemResult& item, size_t done, size_t of)>;
CoreTaskResult run_core_task(const CoreTask& task, std::vector<CoreExample> examples,
                             size_t max_items, const PromptIds& ids, Scorer& scorer,
                             const OnCoreItem& on_item);

}  // namespace ingot
