// tokenizer.json with a model of pieces: unigram, or BPE of characters (Llama 2's kind).
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
  HfNormalizer normalizer;           // without the marks for spaces, which the model's rules put
  bool split_at_whitespace = false;  // before Metaspace; what is there is dropped
  std::optional<HfMetaspace> metaspace;
  HfDecoder decoder;
};

// Whether the file is of this kind: neither byte-level BPE nor one that needs every rule of
// Hugging Face's (pipeline.h).
bool holds_pieces(const Json& tokenizer);

// Throws ErrorCode::Data, naming `origin` and the component, on anything that is not understood.
HfPieces hf_pieces_from(const Json& tokenizer, std::string_view origin);

// Its Unigram model alone, which takes words as they are, and the file's added tokens.
SentencePieceModel unigram_from(const Json& tokenizer, std::vector<AddedToken>& added,
                                std::string_view origin);

double as_hugging_face_reads(double value);  // a number of a file: the last bit may differ

// A tokenizer that gives the ids that Hugging Face tokenizers gives, and decodes as it does. Its
// kind() is "sentencepiece", its serialize() is `file`. Other than there, special tokens are found
// by encode_with_specials() alone, also where the model has a piece spelt like one.
std::unique_ptr<Tokenizer> hf_piece_tokenizer(HfPieces pieces, std::string file,
                                              std::string_view origin);

}  // namespace ingot
