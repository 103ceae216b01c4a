// Texts for the filters' vectors (data_prep reference, section 6).
#pragma once

#include <string>
#include <vector>

namespace ingot::testing_support {

// U(n, p): n words of the prefix and three letters, aaa, aab, … with one space between.
inline std::string numbered_words(int n, const std::string& prefix = "wo") {
  std::string text;
  for (int i = 0; i < n; ++i) {
    if (i != 0) text += ' ';
    text += prefix;
    for (const int place : {676, 26, 1}) text += static_cast<char>('a' + i / place % 26);
  }
  return text;
}

// p_i: a prefix of two letters for each i below 676.
inline std::string prefix_of(int i) {
  return {static_cast<char>('a' + i / 26), static_cast<char>('a' + i % 26)};
}

inline std::string times(int n, const std::string& piece) {
  std::string text;
  for (int i = 0; i < n; ++i) text += piece;
  return text;
}

inline std::string join(const std::vector<std::string>& pieces, const std::string& between) {
  std::string text;
  for (size_t i = 0; i < pieces.size(); ++i) text += (i == 0 ? "" : between) + pieces[i];
  return text;
}

}  // namespace ingot::testing_support
