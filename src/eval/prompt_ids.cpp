#include "eval/prompt_ids.h"

namespace ingot {

std::vector<int32_t> PromptIds::of(std::string_view text) const {
  std::vector<int32_t> ids;
  if (first_id >= 0) ids.push_back(first_id);
  tokenizer.encode(text, ids);
  return ids;
}

PromptIds document_ids(const Tokenizer& tokenizer) {
  return {tokenizer, tokenizer.bos() >= 0 ? tokenizer.bos() : tokenizer.eos()};
}

}  // namespace ingot
