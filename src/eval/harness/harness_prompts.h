// The prompts of a task file, as lm-evaluation-harness makes them.
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
// A conversation as a model's chat template writes it, ready for the model's answer, or for the
// rest of it where the last message is the assistant's.
using RenderChat = std::function<MarkedText(const std::vector<HarnessMessage>& messages)>;

struct HarnessPrompt {
  std::vector<MarkedText> contexts;        // one, or one for each choice
  std::vector<std::string> continuations;  // none for text that is generated
  std::vector<std::string> choices;        // as they are normalized by length
  std::vector<size_t> gold;                // places of right choices; empty: it names none
  std::vector<std::string> answers;        // of generated text
  bool is_rolling = false;                 // the continuation is a whole document
};

// Makes the prompts of a task's documents one after the other: few-shot examples are drawn in their
// order.
class HarnessPrompts {
 public:
  // `render`: empty: no chat template.
  HarnessPrompts(const HarnessTask& task, RenderChat render);
  // Throws ErrorCode::Data, naming file, key and document, for one that does not fit the templates.
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
