#include "eval/harness/harness_prompts.h"

#include <algorithm>

#include "core/error/error.h"
#include "core/text/python_text.h"

namespace ingot {
namespace {

constexpr uint64_t kFewshotSeed = 1234;  // the harness's

bool begins_with_space(std::string_view text) {
  return text::lstrip(text).size() < text.size();
}
bool ends_with_space(std::string_view text) {
  return text::rstrip(text).size() < text.size();
}

// Both, and the delimiter where no space is between them.
std::string delimited(const std::string& a, const std::string& b, const std::string& delimiter) {
  if (a.empty() || b.empty()) return a + b;
  return ends_with_space(a) || begins_with_space(b) ? a + b : a + delimiter + b;
}

bool is_true_text(const chat::Value& value) {
  return value.as_text() != nullptr && !value.as_text()->empty();
}

// The text of an answer that is a text, a number of a choice, or a list of which the first counts.
std::string answer_text(const chat::Value& answer, const std::vector<std::string>& choices) {
  if (const int64_t* place = answer.as_integer(); place != nullptr && !choices.empty()) {
    check(0 <= *place && *place < std::ssize(choices), ErrorCode::Data,
          "doc_to_target: {} of {} choices", *place, choices.size());
    return choices[static_cast<size_t>(*place)];
  }
  if (const chat::List* list = answer.as_list(); list != nullptr && !list->empty())
    return list->front().str();
  return answer.str();
}

}  // namespace

struct HarnessPrompts::Turn {
  HarnessMessage message;
  std::string delimiter = "";  // after it, where there is no chat template
};

HarnessPrompts::HarnessPrompts(const HarnessTask& task, RenderChat render)
    : task_(task), render_(std::move(render)), random_(kFewshotSeed) {
  multiple_inputs_ = task.kind == HarnessKind::MultipleChoice && task.text.is_given() &&
                     task.text.of(task.documents.front()).as_integer() != nullptr;
}

HarnessPrompt HarnessPrompts::next() {
  const size_t index = next_++;
  try {
    return prompt_of(task_.documents.at(index));
  } catch (const Error& error) {
    throw Error(error.code(), fmt::format("{} (document {})", error.what(), index));
  }
}

std::vector<chat::Value> HarnessPrompts::drawn(const chat::Value& document) {
  std::vector<chat::Value> examples;
  const size_t wanted = task_.num_fewshot;
  if (wanted == 0) return examples;
  const std::vector<chat::Value>& pool = task_.fewshot_documents;
  std::vector<size_t> places;
  if (task_.is_first_n) {
    for (size_t i = 0; i < pool.size(); ++i) places.push_back(i);
  } else {
    places = random_.sample(pool.size(), wanted + (task_.excludes_itself ? 1 : 0));
  }
  for (const size_t place : places) {
    if (examples.size() == wanted) break;
    if (!task_.excludes_itself || !(pool[place] == document)) examples.push_back(pool[place]);
  }
  check(examples.size() == wanted, ErrorCode::Data,
        "{}: num_fewshot: the document is in the split more than once", task_.path);
  return examples;
}

// Description and examples.
std::vector<HarnessPrompts::Turn> HarnessPrompts::before(const chat::Value& document) {
  std::vector<Turn> turns;
  if (task_.description.is_given()) {
    const std::string description = task_.description.text_of(document);
    if (!description.empty()) turns.push_back({{"system", description}});
  }
  for (const chat::Value& example : drawn(document)) {
    std::vector<std::string> choices;
    if (task_.fewshot_choice.is_given()) choices = task_.fewshot_choice.list_of(example);
    chat::Value question = task_.fewshot_text.of(example);
    const chat::Value answer = task_.fewshot_target.of(example);
    if (multiple_inputs_) {
      question = chat::Value::text(answer_text(question, choices));
      choices.clear();
    }
    const std::string text = question.str();
    const std::string prefix =
        task_.fewshot_gen_prefix.is_given() ? task_.fewshot_gen_prefix.text_of(example) : "";
    const bool has_answer =
        !answer.is_none() && !(answer.as_text() != nullptr && !is_true_text(answer));
    const bool is_delimited =
        prefix.empty() ? has_answer
                       : !text.empty() && !ends_with_space(text) && !begins_with_space(prefix);
    turns.push_back({{"user", text}, is_delimited ? task_.fewshot_target_delimiter : ""});
    if (has_answer) {
      turns.push_back({{"assistant", delimited(prefix, answer_text(answer, choices), " ")},
                       task_.fewshot_item_delimiter});
    } else if (!prefix.empty()) {
      turns.push_back({{"assistant", prefix}});
    }
  }
  return turns;
}

MarkedText HarnessPrompts::joined(std::vector<Turn> turns) const {
  if (!render_) {
    std::string text;
    for (const Turn& turn : turns) text += turn.message.content + turn.delimiter;
    return {text, /*from_template=*/false};
  }
  std::vector<HarnessMessage> messages;
  for (Turn& turn : turns) messages.push_back(std::move(turn.message));
  return render_(messages);
}

HarnessPrompt HarnessPrompts::prompt_of(const chat::Value& document) {
  HarnessPrompt prompt;
  if (task_.kind == HarnessKind::LoglikelihoodRolling) {
    prompt.is_rolling = true;
    prompt.continuations.push_back(task_.target.text_of(document));
    return prompt;
  }
  if (task_.choice.is_given()) prompt.choices = task_.choice.list_of(document);
  const std::string prefix = task_.gen_prefix.is_given() ? task_.gen_prefix.text_of(document) : "";
  const std::vector<Turn> examples = before(document);
  const auto context_of = [&](const std::string& text) {
    std::vector<Turn> turns = examples;
    const bool is_delimited = !prefix.empty() && !text.empty() && !ends_with_space(text) &&
                              !begins_with_space(prefix) && !multiple_inputs_;
    turns.push_back({{"user", text}, is_delimited ? task_.target_delimiter : ""});
    if (!prefix.empty()) turns.push_back({{"assistant", prefix}});
    return joined(std::move(turns));
  };
  const chat::Value target = task_.target.of(document);
  if (multiple_inputs_) {
    for (const std::string& choice : prompt.choices) prompt.contexts.push_back(context_of(choice));
  } else {
    prompt.contexts.push_back(context_of(task_.text.of(document).str()));
  }

  switch (task_.kind) {
    case HarnessKind::Loglikelihood:
      prompt.continuations.push_back(target.str());
      break;
    case HarnessKind::GenerateUntil:
      if (!prompt.choices.empty()) {
        prompt.answers.push_back(answer_text(target, prompt.choices));
      } else if (target.as_list() != nullptr) {
        for (const chat::Value& answer : *target.as_list()) prompt.answers.push_back(answer.str());
      } else {
        prompt.answers.push_back(target.str());
      }
      break;
    case HarnessKind::MultipleChoice: {
      // A template ends where the answer begins.
      const bool is_bare = render_ && (prefix.empty() || ends_with_space(prefix));
      const std::string delimiter = is_bare ? "" : task_.target_delimiter;
      if (multiple_inputs_) {
        prompt.continuations.assign(prompt.choices.size(), delimiter + target.str());
      } else {
        for (const std::string& choice : prompt.choices)
          prompt.continuations.push_back(delimiter + choice);
      }
      const chat::Value gold = multiple_inputs_ ? task_.text.of(document) : target;
      for (const chat::Value& one :
           gold.as_list() != nullptr ? *gold.as_list() : chat::List{gold}) {
        int64_t place = -1;
        if (const int64_t* given = one.as_integer()) place = *given;
        if (const std::string* text = one.as_text())
          place = std::ranges::find(prompt.choices, *text) - prompt.choices.begin();
        if (0 <= place && place < std::ssize(prompt.choices))
          prompt.gold.push_back(static_cast<size_t>(place));
      }
      break;
    }
    case HarnessKind::LoglikelihoodRolling:
      break;
  }
  return prompt;
}

}  // namespace ingot
