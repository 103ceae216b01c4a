#include "eval/core/core_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "eval/core/core_prompts.h"

namespace ingot {
namespace {

// Items whose ids are in memory at once: more than a scorer computes beside each other.
constexpr size_t kGroup = 256;

double mean_loss(const std::vector<IdScore>& scores) {
  if (scores.empty()) return std::numeric_limits<double>::infinity();
  double sum = 0;
  for (const IdScore& score : scores) sum -= score.logprob;
  return sum / static_cast<double>(scores.size());
}

CoreItemResult judged(const CoreTask& task, const CoreExample& example,
                      const Scorer::Scores& scores) {
  CoreItemResult result{.line = example.line};
  for (const std::vector<IdScore>& option : scores) result.losses.push_back(mean_loss(option));
  if (task.kind == CoreKind::LanguageModeling) {
    result.is_correct = std::ranges::all_of(scores.front(), &IdScore::is_likeliest);
    return result;
  }
  const auto least = std::ranges::min_element(result.losses);  // the first of equal ones
  result.chosen = static_cast<size_t>(least - result.losses.begin());
  result.gold = example.gold;
  result.is_correct = result.chosen == result.gold;
  return result;
}

}  // namespace

MeanScore CoreTaskResult::accuracy() const {
  std::vector<double> values;
  for (const CoreItemResult& item : items) values.push_back(item.is_correct ? 1 : 0);
  return mean_of(values);
}

bool CoreScore::is_core() const {
  return tasks == core_tasks().size();
}

std::string CoreScore::text() const {
  return is_core() ? fmt::format("{:.6f}", mean)
                   : fmt::format("n/a ({} of {} tasks)", tasks, core_tasks().size());
}

double baseline_of(const CoreTask& task, CoreVersion version) {
  return version == CoreVersion::V1 ? task.baseline_v1 : task.baseline_v2;
}

CoreScore core_score(const std::vector<CoreTaskResult>& results, CoreVersion version) {
  CoreScore score{.tasks = results.size()};
  if (results.empty()) return score;
  std::vector<BootstrapGroup> groups;
  for (const CoreTaskResult& result : results) {
    const double baseline = baseline_of(*result.task, version);
    score.mean += centred(result.accuracy().value, baseline) / static_cast<double>(results.size());
    BootstrapGroup group{.factor = 1 / (1 - 0.01 * baseline), .offset = centred(0, baseline)};
    for (const CoreItemResult& item : result.items) group.values.push_back(item.is_correct ? 1 : 0);
    groups.push_back(std::move(group));
  }
  score.interval = bootstrap_interval(groups);
  return score;
}

CoreTaskResult run_core_task(const CoreTask& task, std::vector<CoreExample> examples,
                             size_t max_items, const PromptIds& ids, Scorer& scorer,
                             const OnCoreItem& on_item) {
  examples = core_order(std::move(examples), max_items);
  CoreTaskResult result{.task = &task, .items = std::vector<CoreItemResult>(examples.size())};
  size_t done = 0;
  for (size_t begin = 0; begin < examples.size(); begin += kGroup) {
    const size_t end = std::min(begin + kGroup, examples.size());
    std::vector<ScoreItem> items;
    std::vector<size_t> places;  // of the items among the examples
    const auto finish = [&](size_t place, const Scorer::Scores& scores, bool prefix_holds) {
      CoreItemResult& item = result.items[place] = judged(task, examples[place], scores);
      item.is_correct &= prefix_holds;
      result.broken_prefixes += !prefix_holds;
      result.empty_ranges += std::ranges::any_of(scores, &std::vector<IdScore>::empty);
      on_item(item, ++done, examples.size());
    };
    for (size_t i = begin; i < end; ++i) {
      CoreItem item = core_item(task, core_prompts(task, examples, i), ids);
      if (!item.prefix_holds) {
        finish(i, Scorer::Scores(1), false);
        continue;
      }
      items.push_back(std::move(item.sequences));
      places.push_back(i);
    }
    scorer.score(items, [&](size_t index, const Scorer::Scores& scores) {
      finish(places[index], scores, true);
    });
  }
  return result;
}

}  // namespace ingot
