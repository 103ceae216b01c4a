#include "tokenizer/trusted_text.h"

#include <algorithm>

namespace ingot {

TrustedText::TrustedText(std::span<const TextRange> only) : all_(false) {
  for (const TextRange& range : only) {
    if (range.begin == range.end) continue;
    if (!ranges_.empty() && ranges_.back().end == range.begin)
      ranges_.back().end = range.end;
    else
      ranges_.push_back(range);
  }
}

bool TrustedText::contains(size_t begin, size_t end) const {
  if (all_) return true;
  const auto after = std::ranges::upper_bound(ranges_, begin, {}, &TextRange::begin);
  return after != ranges_.begin() && end <= std::prev(after)->end;
}

TrustedText TrustedText::of_part(size_t begin, size_t size) const {
  TrustedText part;
  part.all_ = all_ || contains(begin, begin + size);
  if (part.all_) return part;
  for (const TextRange& range : ranges_) {
    const size_t first = std::max(range.begin, begin), last = std::min(range.end, begin + size);
    if (first < last) part.ranges_.push_back({first - begin, last - begin});
  }
  return part;
}

TrustedText TrustedText::of_normalized(std::string_view raw, std::string_view normalized,
                                       const Normalize& normalize) const {
  if (all_) return *this;
  const auto place = [&](size_t at) {
    const std::string before = normalize(raw.substr(0, at));
    return normalized.starts_with(before) ? before.size() : std::string_view::npos;
  };
  TrustedText found;
  found.all_ = false;
  for (const TextRange& range : ranges_) {
    const size_t begin = place(range.begin), end = place(range.end);
    const bool located = begin != std::string_view::npos && end != std::string_view::npos;
    if (located && begin < end) found.ranges_.push_back({begin, end});
  }
  return found;
}

}  // namespace ingot
