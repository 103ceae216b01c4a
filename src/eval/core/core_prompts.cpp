#include "eval/core/core_prompts.h"

#include <algorithm>

#include "core/error/error.h"
#include "core/text/python_text.h"
#include "eval/python_random.h"

namespace ingot {
namespace {

constexpr uint64_t kShuffleSeed = 1337, kShotSeed = 1234;

// An example with its answer.
std::string solved(const CoreTask& task, const CoreExample& example) {
  const auto answered = [&](std::string_view before, std::string_view after) {
    return fmt::format("{}{}{}", before, task.delimiter, after);
  };
  switch (task.kind) {
    case CoreKind::MultipleChoice:
      return answered(example.text, example.options[example.gold]);
    case CoreKind::Schema:
      return answered(example.options[example.gold], example.text);
    case CoreKind::LanguageModeling:
      break;
  }
  return answered(text::strip(example.text), example.continuation);
}

}  // namespace

std::vector<CoreExample> core_order(std::vector<CoreExample> examples, size_t max_items) {
  PythonRandom(kShuffleSeed).shuffle(examples);
  if (max_items > 0 && max_items < examples.size()) examples.resize(max_items);
  return examples;
}

std::vector<size_t> core_shots(const CoreTask& task, size_t num_examples, size_t index) {
  if (task.shots == 0) return {};
  check(task.shots < num_examples, ErrorCode::Data,
        "{}: {} examples beside each item are wanted, there are {} in all: evaluate more of them",
        task.label, task.shots, num_examples);
  std::vector<size_t> shots = PythonRandom(kShotSeed + index).sample(num_examples - 1, task.shots);
  for (size_t& shot : shots) shot += shot >= index;  // the pool is all positions but the item's
  return shots;
}

std::vector<std::string> core_prompts(const CoreTask& task,
                                      const std::vector<CoreExample>& examples, size_t index) {
  std::string before;
  for (const size_t shot : core_shots(task, examples.size(), index))
    before += solved(task, examples[shot]) + "\n\n";
  const CoreExample& item = examples[index];
  std::vector<std::string> prompts;
  const auto add = [&](std::string_view first, std::string_view second) {
    prompts.push_back(fmt::format("{}{}{}{}", before, first, task.delimiter, second));
  };
  switch (task.kind) {
    case CoreKind::MultipleChoice:
      for (const std::string& option : item.options) add(item.text, option);
      break;
    case CoreKind::Schema:
      for (const std::string& option : item.options) add(option, item.text);
      break;
    case CoreKind::LanguageModeling:
      add(text::strip(item.text), "");
      prompts.back() = std::string(text::strip(prompts.back()));
      add(text::strip(item.text), item.continuation);
      break;
  }
  return prompts;
}

CoreItem core_item(const CoreTask& task, const std::vector<std::string>& prompts,
                   const PromptIds& ids) {
  CoreItem item;
  std::vector<ScoredSequence>& sequences = item.sequences.sequences;
  for (const std::string& prompt : prompts) sequences.push_back({.ids = ids.of(prompt)});
  if (task.kind == CoreKind::LanguageModeling) {
    const std::vector<int32_t> without = std::move(sequences.front().ids);
    sequences.erase(sequences.begin());
    const std::vector<int32_t>& with = sequences.front().ids;
    item.prefix_holds =
        without.size() < with.size() && std::equal(without.begin(), without.end(), with.begin());
    sequences.front().first_scored = without.size();
    return item;
  }
  const std::vector<int32_t>& first = sequences.front().ids;
  size_t prefix = first.size(), suffix = first.size();
  for (const ScoredSequence& other : sequences) {
    const auto front = std::ranges::mismatch(first, other.ids);
    prefix = std::min(prefix, static_cast<size_t>(front.in1 - first.begin()));
    const auto back =
        std::mismatch(first.rbegin(), first.rend(), other.ids.rbegin(), other.ids.rend());
    suffix = std::min(suffix, static_cast<size_t>(back.first - first.rbegin()));
  }
  const bool is_schema = task.kind == CoreKind::Schema;
  for (ScoredSequence& sequence : sequences)
    sequence.first_scored = is_schema ? sequence.ids.size() - suffix : prefix;
  return item;
}

}  // namespace ingot
