// Reads scores and the next token from one row of logits.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "infer/sequence.h"

namespace ingot {

struct LogitRow {
  const Sequence* sequence = nullptr;
  int64_t position = 0;  // of the token that gave these logits
  bool is_finite = true;
  const TopLogits* likeliest = nullptr;  // instead of logits, if can_read_likeliest()
};

struct LogitResult {
  std::optional<TokenScore> prompt_score;  // of the prompt's next token
  std::vector<TokenScore> next_scores;     // of Request::next_ids
  std::optional<TokenScore> token;         // the next token of the reply
  bool is_finite = true, is_zero = false;  // whether all logits are
  std::string error;                       // why there is no next token
};

// Whether the likeliest logits are all that the next rows of a sequence are read for.
bool can_read_likeliest(const Sequence& sequence);

// `logits` (V). The next token is an id below `drawn_vocab`. Thread-safe.
LogitResult read_row(const LogitRow& row, std::span<const float> logits, size_t drawn_vocab);

}  // namespace ingot
