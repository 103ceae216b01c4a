// The models of tokenizer.json, each a mapping from words to ids.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tokenizer/added_tokens.h"
#include "tokenizer/hf/json_fields.h"
#include "tokenizer/hf/pre_tokenizer.h"

namespace ingot {

// Thread-safe.
class HfWordModel {
 public:
  virtual ~HfWordModel() = default;
  virtual void encode(const HfWords& words, std::vector<int32_t>& ids) const = 0;  // appends
};

struct HfVocabulary {
  std::vector<std::string> tokens;  // by id, including added ones; empty: unused id
  // The tokens that words can become: without special tokens, and without added ones that the model
  // lacks.
  std::vector<std::string> spellings;
  std::vector<AddedToken> added;
};

struct HfModelAndVocabulary {
  std::unique_ptr<HfWordModel> model;
  HfVocabulary vocabulary;
};

// BPE, Unigram, WordPiece or WordLevel. `tokenizer`: the whole file. Throws ErrorCode::Data, naming
// `origin`, for anything unsupported.
HfModelAndVocabulary read_word_model(const Json& tokenizer, std::string_view origin);

// The model with merges. `all` also finds special tokens.
std::unique_ptr<HfWordModel> hf_bpe_model(const Json& model, const HfVocabulary& vocabulary,
                                          const TokenIndex& all, std::string_view origin);

}  // namespace ingot
