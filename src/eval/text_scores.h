// Perplexity and bits per byte of texts.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "eval/prompt_ids.h"
#include "eval/scorer.h"

namespace ingot {

// Each token of a document is scored once, in the first window that holds it. Windows have `window`
// tokens and begin `stride` tokens apart, so that each token is scored after at least
// window − stride others, if the document has that many.
struct TextWindows {
  int64_t window = 0, stride = 0;
};

// Sums over documents.
struct TextScore {
  double loss = 0.0;   // in nats
  int64_t tokens = 0;  // scored tokens
  int64_t bytes = 0;
  int64_t documents = 0;

  double mean_loss() const;      // per token
  double perplexity() const;     // per token
  double bits_per_byte() const;  // does not depend on the tokenizer
  TextScore& operator+=(const TextScore& other);
};

// The windows of a document. Its first token is scored only if PromptIds has a first_id, which
// predicts it.
ScoreItem text_item(const std::string& text, const PromptIds& ids, const TextWindows& windows);

// One score for each document, in order.
std::vector<TextScore> score_texts(const std::vector<std::string>& texts, const PromptIds& ids,
                                   const TextWindows& windows, Scorer& scorer);

}  // namespace ingot
