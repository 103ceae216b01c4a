#include "ingest/clean/filters/duplicates.h"

#include <xxhash.h>

#include "core/text/python_text.h"

namespace ingot {

void split_at_newlines(std::string_view text, size_t min_run,
                       std::vector<std::string_view>& pieces) {
  size_t begin = 0;
  for (size_t at = text.find('\n'); at != std::string_view::npos;) {
    const size_t after = std::min(text.find_first_not_of('\n', at), text.size());
    if (after - at >= min_run) {
      pieces.push_back(text.substr(begin, at - begin));
      begin = after;
    }
    at = text.find('\n', after);
  }
  pieces.push_back(text.substr(begin));
}

Duplicates find_duplicates(const std::vector<std::string_view>& pieces, HashSet& seen) {
  Duplicates found;
  if (pieces.size() < 2) return found;
  seen.reset(pieces.size());
  for (const std::string_view piece : pieces) {
    if (seen.insert(XXH3_64bits(piece.data(), piece.size()))) continue;
    ++found.count;
    found.chars += text::length(piece);
  }
  return found;
}

}  // namespace ingot
