// Replaces all occurrences of a string in a text.
#pragma once

#include <string>
#include <string_view>

namespace ingot {

inline void replace_all(std::string& text, std::string_view pattern, std::string_view content) {
  size_t found = text.find(pattern);
  if (found == std::string::npos) return;
  std::string out;
  size_t copied = 0;
  for (; found != std::string::npos; found = text.find(pattern, copied)) {
    out.append(text, copied, found - copied) += content;
    copied = found + pattern.size();
  }
  text = out.append(text, copied);
}

}  // namespace ingot
