// What an engine reads off one row of logits.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "infer/sequence.h"

namespace ingot {

struct LogitRow {
  const Sequence* sequence = nullptr;
  int64_t position = 0;  // of the token after which these logits are
  bool is_finite = true;
};

struct LogitResult {
  std::optional<TokenScore> prompt_score;  // of the prompt's next token
  std::vector<TokenScore> next_scores;     // of Request::next_ids
  std::optional<TokenScore> token;         // the reply's next
  bool is_finite = true, is_zero = false;  // all of the row
  std::string error;                       // why there is no next token
};

// `logits` (V); the next token is one of the first `drawn_vocab`. Thread-safe.
LogitResult read_row(const LogitRow& row, std::span<const float> logits, size_t drawn_vocab);

}  // namespace ingot
