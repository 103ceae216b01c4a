// A SentencePiece .model file as plain data; also represents tokenizer.json's models of the same
// kinds.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tokenizer/bpe/token_merge.h"

namespace ingot {

// Values as in the file.
enum class PieceType {
  Normal = 1,
  Unknown = 2,
  Control = 3,
  UserDefined = 4,
  Unused = 5,
  Byte = 6
};

struct SentencePieceRules {  // normalisation of text before pieces are matched
  std::string charsmap;      // precompiled_charsmap: a trie of replacements; empty: none
  bool add_dummy_prefix = true;
  bool remove_extra_whitespaces = true;
  bool escape_whitespaces = true;
};

struct SentencePieceModel {
  struct Piece {
    std::string text;  // UTF-8, not empty; no two are equal
    double score = 0;  // finite; in a .model file float32
    PieceType type = PieceType::Normal;
  };
  enum class Kind { Unigram = 1, Bpe = 2 };

  Kind kind = Kind::Unigram;
  std::vector<Piece> pieces;  // by id
  int32_t unknown = -1;       // the single piece of that type
  int32_t bos = -1, eos = -1;
  bool byte_fallback = false;  // an unknown character becomes its bytes; all 256 are pieces
  bool whitespace_is_suffix = false;
  std::string unknown_surface = " \xE2\x81\x87 ";
  SentencePieceRules normalizer, denormalizer;

  // Differences of Hugging Face tokenizers from SentencePiece; not in .model files.
  struct HuggingFace {
    // BPE: merges of neighbours in order of priority. SentencePiece instead merges any two that are
    // a piece together, best score first.
    std::vector<TokenMerge> merges;
    bool split_at_spaces = false;  // words, with the space before, are independent
    bool fuse_unknown = true;      // a run of unknown characters is one id
  };
  std::optional<HuggingFace> hugging_face;
};

// Throws ErrorCode::Data, naming `origin`, for anything that SentencePiece rejects, for a word or
// character model, and for pieces that are not UTF-8.
SentencePieceModel parse_sentencepiece_model(std::string_view file, std::string_view origin);

// The .model file of a model without `hugging_face`. Contains pieces, kind, byte fallback, BOS and
// EOS, and the normalizer's rules.
std::string to_sentencepiece_file(const SentencePieceModel& model);
std::string piece_message(const SentencePieceModel::Piece& piece);  // the encoding of one piece

// Whether the bytes have the structure of a .model file: complete fields, with at least one piece.
bool looks_like_sentencepiece(std::string_view file);

}  // namespace ingot
