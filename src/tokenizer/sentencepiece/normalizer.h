// SentencePiece's normaliser.
#pragma once

#include <bitset>
#include <string>
#include <string_view>
#include <vector>

#include "tokenizer/sentencepiece/charsmap.h"
#include "tokenizer/sentencepiece/model.h"
#include "tokenizer/sentencepiece/trie.h"

namespace ingot {

// SentencePiece escapes spaces as the mark U+2581 and cannot tell an escaped space from a mark in
// the text. This program uses the opposite: in its normalised text both are a space, since one byte
// is faster than three.
inline constexpr std::string_view kSpaceMark = "\xE2\x96\x81";
std::string with_spaces(std::string_view text);  // replaces the marks by spaces

class SentencePieceNormalizer {
 public:
  // `verbatim` strings pass unchanged. Throws ErrorCode::Data, naming `origin`, for an invalid
  // charsmap.
  SentencePieceNormalizer(const SentencePieceRules& rules, bool whitespace_is_suffix,
                          const std::vector<std::string_view>& verbatim, std::string_view origin);

  // Overwrites `normalized`. Each byte that is not valid UTF-8 becomes U+FFFD.
  void normalize(std::string_view text, std::string& normalized) const;

 private:
  struct Step {
    std::string_view text;  // the replacement of that many bytes at the front of the input
    size_t consumed;
  };

  Step step(std::string_view text) const;
  size_t plain_end(std::string_view text, size_t begin, bool after_space) const;
  size_t simple_end(std::string_view text, size_t begin, bool after_space) const;

  bool add_dummy_prefix_, whitespace_is_suffix_, collapse_spaces_, escape_spaces_;
  CharsMap charsmap_;
  DoubleArray verbatim_;

  // Most text does not change: a plain character stays if the next one is not second in a rule.
  std::bitset<CharsMap::kBasicPlane> plain_, second_;
  bool simple_ascii_ = true;  // all printable ASCII is plain, and no ASCII is second
};

}  // namespace ingot
