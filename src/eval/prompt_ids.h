// The ids of whole prompts, which begin like the model's training documents.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "tokenizer/tokenizer.h"

namespace ingot {

// `first_id`: the id before each text, BOS; -1: none.
struct PromptIds {
  const Tokenizer& tokenizer;
  int32_t first_id = -1;

  // first_id and the ids of `text`, in which special tokens are only text.
  std::vector<int32_t> of(std::string_view text) const;
};

// Texts begin like documents in training data: after BOS, or after EOS if there is no BOS.
PromptIds document_ids(const Tokenizer& tokenizer);

}  // namespace ingot
