// Locale-independent ASCII text functions, for protocols.
#pragma once

#include <string>
#include <string_view>

namespace ingot {

inline std::string lower_case(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  return result;
}

inline std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kSpaces = " \t\r\n\f";
  const size_t first = text.find_first_not_of(kSpaces);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpaces) - first + 1);
}

}  // namespace ingot
