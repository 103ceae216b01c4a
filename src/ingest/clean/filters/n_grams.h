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

// [i, i + n) are words throughout.
class NGrams {
 public:
  static constexpr size_t kMinHeadBytes = 8, kMaxHeadBytes = 32;

  // Takes the place of the words before; the memory stays. They lie in `text`.
  void assign(std::span<const Word> words, std::string_view text);

  size_t num_words() const { return hashes_.size(); }

  // Of the words as a sequence.
  uint64_t sequence_hash(size_t i, size_t n) const {
    uint64_t hash = 0;
    for (size_t k = i; k < i + n; ++k) hash = hash * 0xD6E8FEB86659FD93u + hashes_[k];
    return hash;
  }
  // The words without anything between them: "ab c" and "a bc" have the same concatenation.
  std::string_view concatenation(size_t i, size_t n) const {
    return {joined_.data() + byte_ends_[i], byte_ends_[i + n] - byte_ends_[i]};
  }
  // Of the first bytes, kMinHeadBytes to kMaxHeadBytes, of any concatenation from word i on; what
  // lies behind the last word is zeros.
  uint64_t head_hash(size_t i, size_t num_bytes) const;

  size_t bytes(size_t i, size_t n) const { return byte_ends_[i + n] - byte_ends_[i]; }
  size_t chars(size_t i, size_t n) const { return char_ends_[i + n] - char_ends_[i]; }

 private:
  std::string joined_;               // all words, and some zeros
  std::vector<uint64_t> hashes_;     // of each word
  std::vector<uint32_t> byte_ends_;  // num_words + 1: bytes of the first i words
  std::vector<uint32_t> char_ends_;  // and their code points
};

}  // namespace ingot
