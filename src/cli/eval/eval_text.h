// `ingot eval --text`: perplexity and bits per byte.
#pragma once

#include "cli/eval/eval_model.h"
#include "cli/eval/item_log.h"
#include "cli/text_documents.h"
#include "eval/text_scores.h"

namespace ingot::cli {

struct TextOptions {
  std::vector<std::string> paths;
  int64_t window = 0;         // 0: the model's context
  int64_t stride = 0;         // 0: half the window
  int64_t max_documents = 0;  // reads the first ones with text; 0: all
  ReadOptions read;
};

// Prints a table on stdout and progress on stderr. Returns what --json prints.
nlohmann::ordered_json run_text(const TextOptions& options, EvalModel& model, ItemLog& log);

}  // namespace ingot::cli
