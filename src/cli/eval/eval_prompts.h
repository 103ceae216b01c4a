// `ingot eval --prompts`: shows what a model writes.
#pragma once

#include <vector>

#include "cli/eval/eval_model.h"
#include "cli/eval/item_log.h"
#include "eval/prompts/prompt_set.h"

namespace ingot::cli {

// Prints prompts and continuations on stdout. Returns what --json prints.
nlohmann::ordered_json run_prompts(EvalModel& model, ItemLog& log);

// Text for a terminal: control characters are escaped, line ends become ⏎.
std::string shown_on_one_line(std::string_view text);

// Counts right answers to questions in `language`; empty: in all languages.
struct QuestionCount {
  int64_t right = 0, all = 0;
};
QuestionCount right_answers(const std::vector<PromptAnswer>& answers, std::string_view language);

}  // namespace ingot::cli
