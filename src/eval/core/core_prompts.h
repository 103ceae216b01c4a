// The prompts of a CORE task, exactly as the published numbers were made.
#pragma once

#include <string>
#include <vector>

#include "eval/core/core_tasks.h"
#include "eval/prompt_ids.h"
#include "eval/scorer.h"

namespace ingot {

// The examples of a task in the order of their evaluation: shuffled, then the first max_items of
// them (0: all). The pool of few-shot examples is what remains.
std::vector<CoreExample> core_order(std::vector<CoreExample> examples, size_t max_items);

// Positions of the few-shot examples of the item at `index`. Throws ErrorCode::Data if there are
// too few examples.
std::vector<size_t> core_shots(const CoreTask& task, size_t num_examples, size_t index);

// A prompt for each option; of language modeling two: without and with the continuation.
std::vector<std::string> core_prompts(const CoreTask& task,
                                      const std::vector<CoreExample>& examples, size_t index);

struct CoreItem {
  ScoreItem sequences;       // one for each option; of language modeling one
  bool prefix_holds = true;  // of language modeling: the prompt's ids begin the ids of the whole
};
CoreItem core_item(const CoreTask& task, const std::vector<std::string>& prompts,
                   const PromptIds& ids);

}  // namespace ingot
