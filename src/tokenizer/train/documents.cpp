#include "tokenizer/train/documents.h"

#include <memory>
#include <utility>

#include "core/text/utf8.h"

namespace ingot {
namespace {

using text::is_continuation;

// Bytes of the first `characters` of text.
size_t prefix_bytes(std::string_view text, int64_t characters) {
  size_t end = 0;
  for (; end < text.size(); ++end) {
    if (!is_continuation(text[end]) && characters-- == 0) break;
  }
  return end;
}

}  // namespace

int64_t count_characters(std::string_view text) {
  int64_t count = 0;
  for (const char c : text) count += is_continuation(c) ? 0 : 1;
  return count;
}

NextDocument sample_of(NextDocument next, SampleLimit limit) {
  if (limit.documents == 0 && limit.characters == 0) return next;
  auto taken = std::make_shared<SampleLimit>();  // std::function copies its callable
  return [next = std::move(next), limit, taken](std::string& document) {
    if (limit.documents > 0 && taken->documents == limit.documents) return false;
    if (limit.characters > 0 && taken->characters == limit.characters) return false;
    if (!next(document)) return false;
    ++taken->documents;
    if (limit.characters > 0) {
      document.resize(prefix_bytes(document, limit.characters - taken->characters));
      taken->characters += count_characters(document);
    }
    return true;
  };
}

}  // namespace ingot
