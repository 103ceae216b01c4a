// A SentencePiece .model file as plain data.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ingot {

// The values are those of the file.
enum class PieceType {
  Normal = 1,
  Unknown = 2,
  Control = 3,
  UserDefined = 4,
  Unused = 5,
  Byte = 6
};

struct SentencePieceRules {  // how text is brought into the form that pieces are made of
  std::string charsmap;      // precompiled_charsmap: a trie of replacements; empty: none
  bool add_dummy_prefix = true;
  bool remove_extra_whitespaces = true;
  bool escape_whitespaces = true;
};

struct SentencePieceModel {
  struct Piece {
    std::string text;  // UTF-8, not empty; no two are equal
    float score = 0;   // finite
    PieceType type = PieceType::Normal;
  };
  enum class Kind { Unigram = 1, Bpe = 2 };

  Kind kind = Kind::Unigram;
  std::vector<Piece> pieces;  // by id
  int32_t unknown = -1;       // the one piece of that type
  int32_t bos = -1, eos = -1;
  bool byte_fallback = false;  // an unknown character becomes its bytes: all 256 are pieces then
  bool whitespace_is_suffix = false;
  std::string unknown_surface = " \xE2\x81\x87 ";
  SentencePieceRules normalizer, denormalizer;
};

// Throws ErrorCode::Data, naming `origin`, on anything that SentencePiece would refuse, on a model
// of words or characters, and on pieces that are not UTF-8.
SentencePieceModel parse_sentencepiece_model(std::string_view file, std::string_view origin);

// Whether the file is built as a .model file: whole fields, a piece among them.
bool looks_like_sentencepiece(std::string_view file);

}  // namespace ingot
