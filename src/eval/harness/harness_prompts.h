// Makes the prompts of a task file like lm-evaluation-harness.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "eval/harness/harness_task.h"
#include "eval/python_random.h"
#include "tokenizer/chat/marked_text.h"

namespace ingot {

struct HarnessMessage {
  std::string role, content;  // "system", "user", "assistant"
};
// The text that a model's chat template writes for a conversation, up to where the model's answer
// begins. If the last message is the assistant's, the model continues that message.
using RenderChat = std::function<MarkedText(const std::vector<HarnessMessage>& messages)>;

struct HarnessPrompt {
  std::vector<MarkedText> contexts;        // one, or one for each choice
  std::vector<std::string> continuations;  // empty for GenerateUntil
  std::vector<std::string> choices;        // the texts whose lengths normalize the scores
  std::vector<size_t> gold;                // indices of right choices; empty: none is named
  std::vector<std::string> answers;        // right ones, for GenerateUntil
  bool is_rolling = false;                 // the continuation is a whole document
};

// Makes the prompts of a task's documents in order, because few-shot examples are drawn in this
// order.
class HarnessPrompts {
 public:
  // An empty `render` means no chat template.
  HarnessPrompts(const HarnessTask& task, RenderChat render);
  // The prompt of the next document. Throws ErrorCode::Data, naming file, key and document, if it
  // does not fit the templates.
  HarnessPrompt next();

 private:
  struct Turn;
  std::vector<chat::Value> drawn(const chat::Value& document);
  std::vector<Turn> before(const chat::Value& document);
  MarkedText joined(std::vector<Turn> turns) const;
  HarnessPrompt prompt_of(const chat::Value& document);

  const HarnessTask& task_;
  RenderChat render_;
  PythonRandom random_;
  bool multiple_inputs_ = false;  // choices differ in what comes before the continuation
  size_t next_ = 0;
};

}  // namespace ingot
