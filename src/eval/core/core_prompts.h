// Makes the prompts of a CORE task exactly as those behind the published numbers.
#pragma once

#include <string>
#include <vector>

#include "eval/core/core_tasks.h"
#include "eval/prompt_ids.h"
#include "eval/scorer.h"

namespace ingot {

// The examples of a task in the order of evaluation: shuffled, then cut to the first max_items (0:
// all). Few-shot examples come from this list too.
std::vector<CoreExample> core_order(std::vector<CoreExample> examples, size_t max_items);

// Positions of the few-shot examples of the item at `index`. Throws ErrorCode::Data if there are
// too few examples.
std::vector<size_t> core_shots(const CoreTask& task, size_t num_examples, size_t index);

// One prompt for each option. Language modeling has two: without and with the continuation.
std::vector<std::string> core_prompts(const CoreTask& task,
                                      const std::vector<CoreExample>& examples, size_t index);

struct CoreItem {
  ScoreItem sequences;       // one for each option; one in language modeling
  bool prefix_holds = true;  // language modeling: the ids of the whole begin with the prompt's ids
};
CoreItem core_item(const CoreTask& task, const std::vector<std::string>& prompts,
                   const PromptIds& ids);

}  // namespace ingot
