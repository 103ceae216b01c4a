#include "eval/harness/harness_run.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numbers>

#include "core/error/error.h"
#include "core/text/python_text.h"
#include "eval/harness/exact_match.h"

namespace ingot {
namespace {

constexpr size_t kGroup = 256;  // items whose ids are in memory at once

// len(re.split(r"\s+", text)): words, and an empty one before or after spaces at an end.
int64_t count_words(std::string_view text) {
  int64_t words = 0;
  for (std::string_view rest = text, word; text::next_word(rest, word);) ++words;
  if (words == 0) return text.empty() ? 1 : 2;
  return words + (text::lstrip(text).size() < text.size()) +
         (text::rstrip(text).size() < text.size());
}

size_t largest(const std::vector<double>& values) {
  return static_cast<size_t>(std::ranges::max_element(values) - values.begin());
}

template <class T>
bool contains(const std::vector<T>& values, T value) {
  return std::ranges::find(values, value) != values.end();
}

RenderChat renderer(const ChatFormat& format) {
  return [&format](const std::vector<HarnessMessage>& messages) {
    constexpr std::string_view kOrigin = "the task's messages";
    auto conversation = nlohmann::json::array();
    for (const auto& [role, content] : messages)
      conversation.push_back({{"role", role}, {"content", content}});
    const std::string text = conversation.dump();
    return messages.back().role == "assistant"
               ? format.begun_reply(text, messages.back().content, kOrigin)
               : format.prompt(text, kOrigin);
  };
}

class Run {
 public:
  Run(const HarnessTask& task, const HarnessIds& ids, Scorer& scorer)
      : task_(task), ids_(ids), scorer_(scorer), ends_(task.until) {
    if (ids.chat != nullptr) ends_.push_back(ids.chat->stop_text());
  }

  std::vector<ScoredSequence> sequences_of(const HarnessPrompt& prompt) const {
    if (prompt.is_rolling) return ids_.rolling(prompt.continuations.front());
    std::vector<ScoredSequence> sequences;
    for (size_t i = 0; i < prompt.continuations.size(); ++i)
      sequences.push_back(
          ids_.pair(prompt.contexts[prompt.contexts.size() > 1 ? i : 0], prompt.continuations[i]));
    return sequences;
  }

  static void take_scores(const HarnessPrompt& prompt, const Scorer::Scores& scores,
                          HarnessItemResult& item) {
    for (const std::vector<IdScore>& sequence : scores) {
      double sum = 0;
      for (const IdScore& score : sequence) sum += score.logprob;
      item.logprobs.push_back(sum);
      item.is_greedy.push_back(std::ranges::all_of(sequence, &IdScore::is_likeliest));
    }
    if (prompt.is_rolling) {  // its windows are one document
      double sum = 0;
      for (const double window : item.logprobs) sum += window;
      item.logprobs = {sum};
      item.bytes = std::ssize(prompt.continuations.front());
      item.words = count_words(prompt.continuations.front());
      return;
    }
    if (prompt.choices.empty()) {
      item.is_correct = item.is_greedy.front();
      return;
    }
    std::vector<double> by_byte;
    for (size_t i = 0; i < item.logprobs.size(); ++i)
      by_byte.push_back(item.logprobs[i] /
                        static_cast<double>(std::max<size_t>(prompt.choices[i].size(), 1)));
    item.gold = prompt.gold;
    item.chosen = largest(item.logprobs);
    item.chosen_by_byte = largest(by_byte);
    item.is_correct = contains(prompt.gold, item.chosen);
    item.is_correct_by_byte = contains(prompt.gold, item.chosen_by_byte);
  }

  // Returns whether the prompt lost its beginning.
  bool generate(const HarnessPrompt& prompt, HarnessItemResult& item) {
    std::vector<int32_t> context = ids_.of(prompt.contexts.front());
    if (context.empty() && ids_.empty_id >= 0) context.push_back(ids_.empty_id);
    const int64_t room = ids_.max_tokens - task_.max_new_tokens;
    check(room > 0, ErrorCode::Data,
          "{}: generation_kwargs: {} new tokens leave no room for a prompt in the context of {}",
          task_.path, task_.max_new_tokens, ids_.max_tokens);
    const bool is_cut = std::ssize(context) > room;
    if (is_cut) context.erase(context.begin(), context.end() - room);
    const auto text_of = [&](std::span<const int32_t> ids) {
      return ids_.ids.tokenizer.decode(std::vector<int32_t>(ids.begin(), ids.end()));
    };
    const auto is_done = [&](std::span<const int32_t> ids) {
      if (ids_.chat != nullptr && contains(ids_.chat->stop_ids(), ids.back())) return true;
      const std::string text = text_of(ids);
      return std::ranges::any_of(ends_, [&](const std::string& end) {
        return !end.empty() && text.find(end) != std::string::npos;
      });
    };
    item.generated = text_of(scorer_.continue_greedily(context, task_.max_new_tokens, is_done));
    for (const std::string& end : ends_)
      if (!end.empty()) item.generated = item.generated.substr(0, item.generated.find(end));
    item.is_correct = std::ranges::any_of(prompt.answers, [&](const std::string& answer) {
      return is_exact_match(item.generated, answer, task_.exact_match, task_.path);
    });
    return is_cut;
  }

 private:
  const HarnessTask& task_;
  const HarnessIds& ids_;
  Scorer& scorer_;
  std::vector<std::string> ends_;  // of generated text; an empty one is none
};

}  // namespace

std::vector<int32_t> HarnessIds::of(const MarkedText& context) const {
  return chat != nullptr ? chat->ids_of(context) : ids.of(context.text);
}

ScoredSequence HarnessIds::pair(const MarkedText& context, const std::string& continuation) const {
  const size_t kept = text::rstrip(context.text).size();
  MarkedText whole = context;
  whole.append(continuation, /*from_template=*/false);
  // Where a token reaches over the border, the harness still reads the context's own ids, and
  // scores what the whole text's ids have behind so many.
  ScoredSequence sequence{.ids = of(context.part(0, kept))};
  sequence.first_scored = sequence.ids.size();
  const std::vector<int32_t> all = of(whole);
  if (sequence.first_scored < all.size())
    sequence.ids.insert(sequence.ids.end(),
                        all.begin() + static_cast<ptrdiff_t>(sequence.first_scored), all.end());
  if (context.text.empty() && chat == nullptr && ids.first_id < 0 && empty_id >= 0) {
    sequence.ids.insert(sequence.ids.begin(), empty_id);
    sequence.first_scored = 1;
  }
  const size_t most = static_cast<size_t>(max_tokens) + 1;  // the last one is only scored
  if (sequence.ids.size() > most) {
    const size_t lost = sequence.ids.size() - most;
    sequence.ids.erase(sequence.ids.begin(), sequence.ids.begin() + static_cast<ptrdiff_t>(lost));
    sequence.first_scored -= std::min(lost, sequence.first_scored);
  }
  return sequence;
}

std::vector<ScoredSequence> HarnessIds::rolling(const std::string& text) const {
  std::vector<int32_t> tokens;
  ids.tokenizer.encode(text, tokens);
  if (empty_id >= 0) tokens.insert(tokens.begin(), empty_id);
  std::vector<ScoredSequence> windows;
  const auto size = static_cast<size_t>(max_tokens);
  // A window scores `size` tokens behind one that is only read; the last one, which scores fewer,
  // reads more.
  for (size_t scored = 1; scored < tokens.size(); scored += size) {
    const size_t end = std::min(scored + size, tokens.size());
    const size_t begin = end > size + 1 ? end - size - 1 : 0;
    windows.push_back({.ids = {tokens.begin() + static_cast<ptrdiff_t>(begin),
                               tokens.begin() + static_cast<ptrdiff_t>(end)},
                       .first_scored = scored - begin});
  }
  return windows;
}

HarnessResult run_harness_task(const HarnessTask& task, size_t max_items, const HarnessIds& ids,
                               Scorer& scorer, const OnHarnessItem& on_item) {
  const size_t all = task.documents.size();
  const size_t wanted = max_items > 0 ? std::min(max_items, all) : all;
  HarnessResult result{.name = task.name, .kind = task.kind};
  result.items.resize(wanted);
  HarnessPrompts prompts(task, ids.chat != nullptr ? renderer(*ids.chat) : RenderChat());
  Run run(task, ids, scorer);
  size_t done = 0;
  for (size_t begin = 0; begin < wanted; begin += kGroup) {
    const size_t end = std::min(begin + kGroup, wanted);
    std::vector<HarnessPrompt> group;
    std::vector<ScoreItem> items;
    for (size_t i = begin; i < end; ++i) {
      group.push_back(prompts.next());
      result.items[i].index = i;
      if (task.kind != HarnessKind::GenerateUntil) {
        items.push_back({run.sequences_of(group.back())});
        continue;
      }
      result.cut_prompts += run.generate(group.back(), result.items[i]);
      on_item(result.items[i], ++done, wanted);
    }
    scorer.score(items, [&](size_t index, const Scorer::Scores& scores) {
      HarnessItemResult& item = result.items[begin + index];
      Run::take_scores(group[index], scores, item);
      on_item(item, ++done, wanted);
    });
  }
  return result;
}

std::vector<HarnessMetric> HarnessResult::metrics() const {
  const auto mean = [&](const auto& value_of) {
    std::vector<double> values;
    for (const HarnessItemResult& item : items) values.push_back(value_of(item));
    return mean_of(values);
  };
  const auto correct = [](const HarnessItemResult& item) { return item.is_correct ? 1.0 : 0.0; };
  const auto only = [&](double value) {
    return MeanScore{.value = value, .num = std::ssize(items)};
  };
  switch (kind) {
    case HarnessKind::MultipleChoice:
      return {{"acc", mean(correct)}, {"acc_norm", mean([](const HarnessItemResult& item) {
                                         return item.is_correct_by_byte ? 1.0 : 0.0;
                                       })}};
    case HarnessKind::Loglikelihood:
      return {{"acc", mean(correct)},
              {"perplexity", only(std::exp(-mean([](const HarnessItemResult& item) {
                                              return item.logprobs.front();
                                            }).value))}};
    case HarnessKind::GenerateUntil:
      return {{"exact_match", mean(correct)}};
    case HarnessKind::LoglikelihoodRolling:
      break;
  }
  double sum = 0, words = 0, bytes = 0;
  for (const HarnessItemResult& item : items) {
    sum += item.logprobs.front();
    words += static_cast<double>(item.words);
    bytes += static_cast<double>(item.bytes);
  }
  return {{"word_perplexity", only(std::exp(-sum / words))},
          {"byte_perplexity", only(std::exp(-sum / bytes))},
          {"bits_per_byte", only(-sum / bytes / std::numbers::ln2)}};
}

}  // namespace ingot
