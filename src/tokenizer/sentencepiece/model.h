// A SentencePiece .model file as plain data; tokenizer.json's models of the same kinds become it
// too.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tokenizer/bpe/token_merge.h"

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
    double score = 0;  // finite; in a .model file float32
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

  // Where Hugging Face tokenizers encodes otherwise than SentencePiece; not in .model files.
  struct HuggingFace {
    // BPE: the neighbours that merge, those listed first before the others. SentencePiece merges
    // any two that are a piece together, the best score first.
    std::vector<TokenMerge> merges;
    bool split_at_spaces = false;  // words, each with the space before it, know nothing of another
    bool fuse_unknown = true;      // a run of unknown characters is one id
  };
  std::optional<HuggingFace> hugging_face;
};

// Throws ErrorCode::Data, naming `origin`, on anything that SentencePiece would refuse, on a model
// of words or characters, and on pieces that are not UTF-8.
SentencePieceModel parse_sentencepiece_model(std::string_view file, std::string_view origin);

// The file of a model, which must have no `hugging_face`. Written: pieces, kind, byte fallback, BOS
// and EOS, the normalizer's rules.
std::string to_sentencepiece_file(const SentencePieceModel& model);
std::string piece_message(const SentencePieceModel::Piece& piece);  // one piece as it stands there

// Whether the file is built as a .model file: whole fields, a piece among them.
bool looks_like_sentencepiece(std::string_view file);

}  // namespace ingot
