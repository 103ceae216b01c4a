// A byte-level BPE tokenizer as plain data: what its files hold, and what training makes.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tokenizer/added_tokens.h"
#include "tokenizer/bpe/split.h"
#include "tokenizer/bpe/token_merge.h"
#include "tokenizer/tokenizer.h"

namespace ingot {

struct BpeModel {
  std::vector<std::string> tokens;  // the bytes of each id; empty: the id is not used
  std::vector<TokenMerge> merges;   // of neighbours, those listed first before the others
  bool whole_piece_first = false;   // a piece that is a token is not merged up (ignore_merges)
  Split split = Split::Gpt2;
  bool nfc = false;  // text is brought to Unicode's form NFC first
  std::vector<AddedToken> added;
  int32_t bos = -1, eos = -1;
  std::string post_processor;  // its JSON in tokenizer.json, kept as it is; empty: none
};

// Throws ErrorCode::Data, naming `origin`, when ids are out of range, tokens repeat, or an added
// token has no text. A byte without a token is accepted here and refused when a text has it.
std::unique_ptr<Tokenizer> bpe_tokenizer(BpeModel model, std::string_view origin);

// Files. The parsers throw ErrorCode::Data on anything they do not fully understand.
BpeModel parse_tokenizer_json(std::string_view file, std::string_view origin);
std::string to_tokenizer_json(const BpeModel& model);  // what Hugging Face tokenizers reads too
// GPT-2's pair of files. They name neither pattern nor specials: GPT-2's are taken.
BpeModel parse_vocab_and_merges(std::string_view vocab_json, std::string_view merges_txt,
                                std::string_view origin);
// One «base64 rank» a line, nothing else: pattern and special tokens are for the caller to set
// (special_tokens.h, rank_settings.h).
BpeModel parse_tiktoken(std::string_view file, std::string_view origin);
// Without specials. Throws ErrorCode::Data when the merges are not those that the ids, read as
// ranks, stand for.
std::string to_tiktoken(const BpeModel& model);

// The merges that ranks stand for: tiktoken joins any two neighbours whose bytes together are a
// token, the smallest id first. Each token can come about from one pair only (docs/tokenizer.md
// says why), so a list of these pairs, in order of id, gives the same ids on every text.
std::vector<TokenMerge> merges_of_ranks(const std::vector<std::string>& tokens,
                                        std::string_view origin);

}  // namespace ingot
