// Scores a model on a task file.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "eval/harness/harness_prompts.h"
#include "eval/prompt_ids.h"
#include "eval/scorer.h"
#include "eval/statistics.h"
#include "tokenizer/chat/chat_format.h"

namespace ingot {

struct HarnessItemResult {
  size_t index = 0;              // number of the document
  std::vector<double> logprobs;  // of each continuation
  std::vector<bool> is_greedy;   // whether greedy decoding would write it
  std::vector<size_t> gold;
  // Multiple choice: the likeliest choice, and the likeliest per byte.
  size_t chosen = 0, chosen_by_byte = 0;
  std::string generated;
  bool is_correct = false, is_correct_by_byte = false;
  int64_t words = 0, bytes = 0;  // of a document, for LoglikelihoodRolling
};

struct HarnessMetric {
  std::string name;  // "acc", "acc_norm", "perplexity", "exact_match", "bits_per_byte", …
  MeanScore score;   // without a standard error if it is no mean
};

struct HarnessResult {
  std::string name;
  HarnessKind kind = HarnessKind::MultipleChoice;
  std::vector<HarnessItemResult> items = {};  // by document
  // Whose beginning was cut off to make room for new tokens. The scorer counts those of scores.
  int64_t cut_prompts = 0;
  std::vector<HarnessMetric> metrics() const;
};

// How a task's texts become ids.
struct HarnessIds {
  PromptIds ids;
  int32_t empty_id = -1;             // for an empty context: BOS, or EOS if there is no BOS
  const ChatFormat* chat = nullptr;  // wrote the contexts; null: they are plain text
  int64_t max_tokens = 0;            // of a sequence; the beginning of a longer one is cut off

  std::vector<int32_t> of(const MarkedText& context) const;
  // Spaces at the end of the context count as part of the continuation.
  ScoredSequence pair(const MarkedText& context, const std::string& continuation) const;
  // For a whole document: scores each token once, in windows of `max_tokens`.
  std::vector<ScoredSequence> rolling(const std::string& text) const;
};

using OnHarnessItem = std::function<void(const HarnessItemResult& item, size_t done, size_t of)>;
// Scores the first max_items documents; 0: all.
HarnessResult run_harness_task(const HarnessTask& task, size_t max_items, const HarnessIds& ids,
                               Scorer& scorer, const OnHarnessItem& on_item);

}  // namespace ingot
