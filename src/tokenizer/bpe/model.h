// A byte-level BPE tokenizer as plain data: the contents of its files, or the result of training.
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
  std::vector<std::string> tokens;  // the bytes of each id; empty: unused id
  std::vector<TokenMerge> merges;   // merges of neighbours, in order of priority
  bool whole_piece_first = false;   // a piece that is a token is not merged (ignore_merges)
  Split split = Split::Gpt2;
  bool nfc = false;  // normalise text to Unicode NFC first
  std::vector<AddedToken> added;
  int32_t bos = -1, eos = -1;
  std::string post_processor;  // its JSON in tokenizer.json, unchanged; empty: none
};

// Throws ErrorCode::Data, naming `origin`, if ids are out of range, tokens repeat, or an added
// token is empty. A byte without a token is accepted here; encoding a text that contains it throws.
std::unique_ptr<Tokenizer> bpe_tokenizer(BpeModel model, std::string_view origin);

// Files. The parsers throw ErrorCode::Data for anything they do not fully support.
BpeModel parse_tokenizer_json(std::string_view file, std::string_view origin);
std::string to_tokenizer_json(const BpeModel& model);  // also readable by Hugging Face tokenizers
// GPT-2's pair of files. They contain neither pattern nor special tokens: GPT-2's are used.
BpeModel parse_vocab_and_merges(std::string_view vocab_json, std::string_view merges_txt,
                                std::string_view origin);
// One «base64 rank» per line, nothing else: the caller sets pattern and special tokens
// (special_tokens.h, rank_settings.h).
BpeModel parse_tiktoken(std::string_view file, std::string_view origin);
// Without special tokens. Throws ErrorCode::Data if the merges are not those given by the ids as
// ranks.
std::string to_tiktoken(const BpeModel& model);

// The merges given by ranks. tiktoken joins any two neighbours whose bytes together are a token,
// smallest id first. Each token can arise from one pair only (docs/tokenizer.md says why), so the
// list of these pairs in id order gives the same ids for every text.
std::vector<TokenMerge> merges_of_ranks(const std::vector<std::string>& tokens,
                                        std::string_view origin);

}  // namespace ingot
