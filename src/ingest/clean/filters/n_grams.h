// The n-grams of a text: hashes, lengths and bytes without building a string for each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ingest/clean/splitters/splitter.h"

namespace ingot {

// Ranges [i, i + n) are in words.
class NGrams {
 public:
  static constexpr size_t kMinHeadBytes = 8, kMaxHeadBytes = 32;

  // Replaces the words and keeps the memory. The words are views of `text`.
  void assign(std::span<const Word> words, std::string_view text);

  size_t num_words() const { return hashes_.size(); }

  // A hash of the word sequence.
  uint64_t sequence_hash(size_t i, size_t n) const {
    uint64_t hash = 0;
    for (size_t k = i; k < i + n; ++k) hash = hash * 0xD6E8FEB86659FD93u + hashes_[k];
    return hash;
  }
  // The words concatenated without separators: "ab c" and "a bc" are equal.
  std::string_view concatenation(size_t i, size_t n) const {
    return {joined_.data() + byte_ends_[i], byte_ends_[i + n] - byte_ends_[i]};
  }
  // A hash of the first num_bytes (kMinHeadBytes to kMaxHeadBytes) of a concatenation from word i
  // on; bytes beyond the last word are zeros.
  uint64_t head_hash(size_t i, size_t num_bytes) const;

  size_t bytes(size_t i, size_t n) const { return byte_ends_[i + n] - byte_ends_[i]; }
  size_t chars(size_t i, size_t n) const { return char_ends_[i + n] - char_ends_[i]; }

 private:
  std::string joined_;               // all words, followed by zeros
  std::vector<uint64_t> hashes_;     // of each word
  std::vector<uint32_t> byte_ends_;  // num_words + 1: bytes of the first i words
  std::vector<uint32_t> char_ends_;  // the same in code points
};

}  // namespace ingot
