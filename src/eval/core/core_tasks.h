// The 22 tasks of CORE, and their files.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/storage/storage.h"

namespace ingot {

// How a question is put: as continuations of one query, as one continuation of several contexts, or
// as a text whose greedy continuation has to be exact.
enum class CoreKind { MultipleChoice, Schema, LanguageModeling };

struct CoreTask {
  std::string_view label;
  std::string_view file;  // its name, in whatever folder
  CoreKind kind;
  size_t shots;
  std::string_view delimiter;       // between a question and its answer
  double baseline_v1, baseline_v2;  // accuracy of guessing, in percent: before and after 2025-09-08
};

std::span<const CoreTask> core_tasks();  // in the order of their publication

// (accuracy − baseline) / (1 − baseline): 0 is guessing, 1 is perfect.
double centred(double accuracy, double baseline_percent);

// One line of a task's file. `options`: choices, or a schema's contexts. `text`: the query, a
// schema's continuation, or the context that a continuation follows.
struct CoreExample {
  size_t line = 0;  // from 0
  std::string text = {};
  std::vector<std::string> options = {};
  size_t gold = 0;
  std::string continuation = {};  // of language modeling
};

// Throws ErrorCode::Data, naming the line and the field, for lines that are no examples of the
// kind.
std::vector<CoreExample> read_core_file(Storage& storage, const std::string& path, CoreKind kind);

// Paths of those of the tasks' files that are in `folder` or below it, by task; empty: not there.
// Throws ErrorCode::Data if a file is there twice.
std::vector<std::string> find_core_files(const std::string& folder);

}  // namespace ingot
