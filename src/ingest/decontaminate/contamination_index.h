// Maps n-grams to the evaluation tasks that contain them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ingest/clean/splitters/splitter.h"
#include "ingest/decontaminate/eval_items.h"
#include "ingest/dedup/joined_words.h"
#include "ingest/text/normalize.h"
#include "spec/settings/settings.h"

namespace ingot {

#include "spec/settings/fields.h"

struct ContaminationSettings {
#include "ingest/decontaminate/decontaminate.def"
  bool straddling = true;  // n-grams that begin in the query and end in the label
  std::string splitter = "auto";
};

#include "spec/settings/end.h"

std::vector<Setting> settings_of(ContaminationSettings& settings);

// Immutable once built, so threads share it.
class ContaminationIndex {
 public:
  ContaminationIndex(const ContaminationSettings& settings, const std::vector<EvalTask>& tasks);

  struct TaskFacts {
    std::string name;
    int64_t items = 0;
    int64_t unprotected = 0;  // items too short for an n-gram: never found
  };
  const std::vector<TaskFacts>& tasks() const { return tasks_; }
  int64_t num_n_grams() const { return static_cast<int64_t>(task_of_.size()); }
  const ContaminationSettings& settings() const { return settings_; }

  // The task of an n-gram's hash; the first if there are several.
  std::optional<size_t> task_of(uint64_t hash) const {
    const auto found = task_of_.find(hash);
    return found == task_of_.end() ? std::nullopt : std::optional<size_t>(found->second);
  }
  const Splitter& splitter() const { return *splitter_; }

 private:
  ContaminationSettings settings_;
  std::unique_ptr<const Splitter> splitter_;
  std::vector<TaskFacts> tasks_;
  std::unordered_map<uint64_t, uint32_t> task_of_;
};

// Finds tasks in documents; one per thread.
class ContaminationFinder {
 public:
  explicit ContaminationFinder(const ContaminationIndex& index) : index_(index) {}

  struct Found {
    size_t task = 0;
    std::string n_gram;  // normalised, words separated by spaces
  };
  // The first n-gram of the text (valid UTF-8) that belongs to a task.
  std::optional<Found> find(std::string_view text);

 private:
  const ContaminationIndex& index_;
  std::string normal_;
  WordList words_;
  JoinedWords joined_;
};

}  // namespace ingot
