// What tokenizers whose special tokens have spellings can do besides Tokenizer's.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "tokenizer/trusted_text.h"

namespace ingot {

class PromptEncoder {
 public:
  virtual ~PromptEncoder() = default;
  // As Tokenizer::encode(), but special tokens become their ids where they lie in trusted text.
  virtual void encode_prompt(std::string_view text, const TrustedText& trusted,
                             std::vector<int32_t>& ids) const = 0;
};

}  // namespace ingot
