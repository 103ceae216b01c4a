// Where in a text special tokens may be spelled.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ingot {

struct TextRange {
  size_t begin = 0, end = 0;  // bytes
};

class TrustedText {
 public:
  TrustedText() = default;                                // all of a text
  explicit TrustedText(std::span<const TextRange> only);  // in order; neighbours may touch

  bool contains(size_t begin, size_t end) const;
  // For a part of the text, which begins at byte `begin`.
  TrustedText of_part(size_t begin, size_t size) const;
  // For `normalized`, made of the whole text `raw` by `normalize`. What cannot be located in it is
  // not trusted.
  using Normalize = std::function<std::string(std::string_view)>;
  TrustedText of_normalized(std::string_view raw, std::string_view normalized,
                            const Normalize& normalize) const;

 private:
  bool all_ = true;
  std::vector<TextRange> ranges_;  // disjoint, with bytes between them
};

}  // namespace ingot
