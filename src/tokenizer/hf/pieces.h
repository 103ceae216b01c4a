// A tokenizer.json with a piece model: unigram, or BPE of characters (Llama 2's kind).
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tokenizer/added_tokens.h"
#include "tokenizer/hf/decoder.h"
#include "tokenizer/hf/json_fields.h"
#include "tokenizer/hf/metaspace.h"
#include "tokenizer/hf/normalizer.h"
#include "tokenizer/sentencepiece/model.h"
#include "tokenizer/tokenizer.h"

namespace ingot {

struct HfPieces {
  SentencePieceModel model;  // with `hugging_face`; special tokens are Control pieces
  std::vector<AddedToken> added;
  HfNormalizer normalizer;           // without the marks for spaces, which the model's rules add
  bool split_at_whitespace = false;  // before Metaspace; the whitespace is dropped
  std::optional<HfMetaspace> metaspace;
  HfDecoder decoder;
};

// Whether the file is of this kind: neither byte-level BPE nor in need of Hugging Face's full
// pipeline (pipeline.h).
bool holds_pieces(const Json& tokenizer);

// Throws ErrorCode::Data, naming `origin` and the component, for anything unsupported.
HfPieces hf_pieces_from(const Json& tokenizer, std::string_view origin);

// Only its Unigram model, which takes words unchanged, and the file's added tokens.
SentencePieceModel unigram_from(const Json& tokenizer, std::vector<AddedToken>& added,
                                std::string_view origin);

double as_hugging_face_reads(double value);  // parses a number as they do: the last bit may differ

// A tokenizer with the ids and the decoding of Hugging Face tokenizers. Its kind() is
// "sentencepiece", its serialize() is `file`. One difference: only encode_with_specials() finds
// special tokens, even if the model has a piece with the same spelling.
std::unique_ptr<Tokenizer> hf_piece_tokenizer(HfPieces pieces, std::string file,
                                              std::string_view origin);

}  // namespace ingot
