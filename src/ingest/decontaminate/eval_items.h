// The questions of an evaluation task, as texts that must not be trained on.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ingot {

struct EvalItem {
  std::string query;  // what is asked
  std::string label;  // the right answer
};

struct EvalTask {
  std::string name;
  std::vector<EvalItem> items;
};

// Lines of one of {query, choices, gold}, {context_options, continuation, gold} and {context,
// continuation}: of the first two `gold` is a number of the list. Throws ErrorCode::Data, with
// line, for anything else, and where there is no item.
EvalTask parse_eval_task(std::string name, std::string_view jsonl, std::string_view origin);

}  // namespace ingot
