#include "eval/prompt_ids.h"

namespace ingot {

std::vector<int32_t> PromptIds::of(std::string_view text) const {
  std::vector<int32_t> ids;
  if (first_id >= 0) ids.push_back(first_id);
  tokenizer.encode(text, ids);
  return ids;
}

std::vector<int32_t> PromptIds::of_rendered(std::string_view text) const {
  std::vector<int32_t> ids;
  tokenizer.encode_with_specials(text, ids);
  if (first_id >= 0 && (ids.empty() || ids.front() != first_id)) ids.insert(ids.begin(), first_id);
  return ids;
}

}  // namespace ingot
