// Builds a small llama2.c tokenizer.bin in memory.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

namespace ingot::testing_support {

template <class T>
void append_raw(std::string& out, T value) {
  char bytes[sizeof(T)];
  std::memcpy(bytes, &value, sizeof(T));
  out.append(bytes, sizeof(T));
}

// The fixed ids 0 … 258, then `pieces` with their scores.
inline std::string llama2c_file(const std::vector<std::pair<std::string, float>>& pieces) {
  std::vector<std::pair<std::string, float>> all{{"<unk>", 0}, {"\n<s>\n", 0}, {"\n</s>\n", 0}};
  for (int byte = 0; byte < 256; ++byte) all.emplace_back(fmt::format("<0x{:02X}>", byte), 0.0f);
  all.insert(all.end(), pieces.begin(), pieces.end());
  size_t longest = 0;
  for (const auto& [piece, score] : all) longest = std::max(longest, piece.size());
  std::string file;
  append_raw(file, static_cast<int32_t>(longest));
  for (const auto& [piece, score] : all) {
    append_raw(file, score);
    append_raw(file, static_cast<int32_t>(piece.size()));
    file += piece;
  }
  return file;
}

// Spaces, letters and a few merges: " " 259, "a" 260, "b" 261, "c" 262, "é" 263, "ab" 264 (-1),
// "bc" 265 (-2), " a" 266 (-3), "abc" 267 (-4), "aa" 268 (-5), " ab" 269 (-6).
inline std::string small_llama2c_file() {
  return llama2c_file({{" ", -20},
                       {"a", -21},
                       {"b", -22},
                       {"c", -23},
                       {"\xC3\xA9", -24},
                       {"ab", -1},
                       {"bc", -2},
                       {" a", -3},
                       {"abc", -4},
                       {"aa", -5},
                       {" ab", -6}});
}

}  // namespace ingot::testing_support
