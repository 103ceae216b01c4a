// What a model reads: the ids of whole prompts, begun as its training documents begin.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "tokenizer/tokenizer.h"

namespace ingot {

// `first_id`: BOS; -1: none.
struct PromptIds {
  const Tokenizer& tokenizer;
  int32_t first_id = -1;

  // first_id and the ids of `text`, in which special tokens are only text.
  std::vector<int32_t> of(std::string_view text) const;
};

// As documents in training data begin: behind BOS, or behind EOS where the tokenizer has no BOS.
PromptIds document_ids(const Tokenizer& tokenizer);

}  // namespace ingot
