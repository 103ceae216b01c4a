// A fixed set of prompts whose answers show what a model has learned, in English and Chinese.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "eval/prompt_ids.h"
#include "eval/scorer.h"

namespace ingot {

struct EvalPrompt {
  std::string_view language;  // "en", "zh"
  std::string_view text;
  // Right answers, with '|' between them. Empty: no question, the text is only continued.
  std::string_view answers;

  bool is_question() const { return !answers.empty(); }
};

std::span<const EvalPrompt> eval_prompts();

struct PromptAnswer {
  const EvalPrompt* prompt = nullptr;
  std::string text = {};    // the greedy continuation
  bool is_correct = false;  // a question, and the text begins with a right answer
};

// In order; `on_answer` is called after each.
using OnAnswer = std::function<void(const PromptAnswer& answer)>;
std::vector<PromptAnswer> answer_prompts(const PromptIds& ids, Scorer& scorer,
                                         const OnAnswer& on_answer);

}  // namespace ingot
