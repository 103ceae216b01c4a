// The questions of an evaluation task, which must not be trained on.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ingot {

struct EvalItem {
  std::string query;  // the question
  std::string label;  // the right answer
};

struct EvalTask {
  std::string name;
  std::vector<EvalItem> items;
};

// JSON lines of one of the forms {query, choices, gold}, {context_options, continuation, gold} and
// {context, continuation}; in the first two `gold` is an index into the list. Throws
// ErrorCode::Data with the line for anything else, and if there is no item.
EvalTask parse_eval_task(std::string name, std::string_view jsonl, std::string_view origin);

}  // namespace ingot
