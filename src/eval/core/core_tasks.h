// The 22 tasks of CORE, and their files.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/storage/storage.h"

namespace ingot {

// How a question is asked: with several continuations of one query, with one continuation of
// several contexts, or with a text whose greedy continuation must be exact.
enum class CoreKind { MultipleChoice, Schema, LanguageModeling };

struct CoreTask {
  std::string_view label;
  std::string_view file;  // its name, without a folder
  CoreKind kind;
  size_t shots;
  std::string_view delimiter;       // between a question and its answer
  double baseline_v1, baseline_v2;  // guessing accuracy in percent, before and since 2025-09-08
};

std::span<const CoreTask> core_tasks();  // in their published order

// (accuracy − baseline) / (1 − baseline): 0 is guessing, 1 is perfect.
double centred(double accuracy, double baseline_percent);

// One line of a task's file. `options`: the choices, or the contexts of a schema. `text`: the
// query, the continuation of a schema, or the context before a continuation.
struct CoreExample {
  size_t line = 0;  // from 0
  std::string text = {};
  std::vector<std::string> options = {};
  size_t gold = 0;
  std::string continuation = {};  // for language modeling
};

// Throws ErrorCode::Data, naming line and field, for a line that is no example of this
// kind.
std::vector<CoreExample> read_core_file(Storage& storage, const std::string& path, CoreKind kind);

// The path of each task's file in `folder` or below it, by task; empty: not found. Throws
// ErrorCode::Data if there are two files for a task.
std::vector<std::string> find_core_files(const std::string& folder);

}  // namespace ingot
