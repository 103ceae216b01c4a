// SentencePiece's normaliser: text into the form that pieces are made of.
#pragma once

#include <bitset>
#include <string>
#include <string_view>
#include <vector>

#include "tokenizer/sentencepiece/charsmap.h"
#include "tokenizer/sentencepiece/model.h"
#include "tokenizer/sentencepiece/trie.h"

namespace ingot {

// In this program a space is a space in normalised text too, and where SentencePiece escapes
// spaces, its mark for them, U+2581, becomes one: the mark in the text and an escaped space are the
// same to SentencePiece, and one byte is quicker than three.
inline constexpr std::string_view kSpaceMark = "\xE2\x96\x81";
std::string with_spaces(std::string_view text);  // in place of the marks

class SentencePieceNormalizer {
 public:
  // `verbatim` strings pass unchanged. Throws ErrorCode::Data, naming `origin`, on a charsmap that
  // is not one.
  SentencePieceNormalizer(const SentencePieceRules& rules, bool whitespace_is_suffix,
                          const std::vector<std::string_view>& verbatim, std::string_view origin);

  // Replaces `normalized`. What is not UTF-8 becomes U+FFFD, byte by byte.
  void normalize(std::string_view text, std::string& normalized) const;

 private:
  struct Step {
    std::string_view text;  // what so many bytes at the front of the input become
    size_t consumed;
  };

  Step step(std::string_view text) const;
  size_t plain_end(std::string_view text, size_t begin, bool after_space) const;
  size_t simple_end(std::string_view text, size_t begin, bool after_space) const;

  bool add_dummy_prefix_, whitespace_is_suffix_, collapse_spaces_, escape_spaces_;
  CharsMap charsmap_;
  DoubleArray verbatim_;

  // Nearly all text stays as it is: a plain character does if none that is second in a rule
  // follows.
  std::bitset<CharsMap::kBasicPlane> plain_, second_;
  bool simple_ascii_ = true;  // all printable ASCII is plain, and no ASCII is second
};

}  // namespace ingot
