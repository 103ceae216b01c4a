// Perplexity and bits per byte of texts.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "eval/prompt_ids.h"
#include "eval/scorer.h"

namespace ingot {

// Each token of a document is scored once, in the first window that holds it. A window of `window`
// tokens begins `stride` tokens behind the one before, so that a token has at least
// window − stride tokens before it, where the document has as many.
struct TextWindows {
  int64_t window = 0, stride = 0;
};

// Sums over documents.
struct TextScore {
  double loss = 0.0;   // in nats
  int64_t tokens = 0;  // that were scored
  int64_t bytes = 0;
  int64_t documents = 0;

  double mean_loss() const;      // by token
  double perplexity() const;     // by token
  double bits_per_byte() const;  // does not depend on the tokenizer
  TextScore& operator+=(const TextScore& other);
};

// The windows of a document. Without an id before it the first token has nothing to be predicted
// from and is not scored.
ScoreItem text_item(const std::string& text, const PromptIds& ids, const TextWindows& windows);

// Of documents: one score each, in their order.
std::vector<TextScore> score_texts(const std::vector<std::string>& texts, const PromptIds& ids,
                                   const TextWindows& windows, Scorer& scorer);

}  // namespace ingot
