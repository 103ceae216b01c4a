// Every other tokenizer.json: runs Hugging Face's normalizer, pre-tokenizer, model and decoder in
// turn.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tokenizer/hf/decoder.h"
#include "tokenizer/hf/json_fields.h"
#include "tokenizer/hf/normalizer.h"
#include "tokenizer/hf/pre_tokenizer.h"
#include "tokenizer/hf/word_model.h"
#include "tokenizer/tokenizer.h"

namespace ingot {

struct HfPipeline {
  HfNormalizer normalizer;
  HfPreTokenizer pre_tokenizer;
  HfModelAndVocabulary words;
  HfDecoder decoder;
  int32_t bos = -1, eos = -1;
};

// Throws ErrorCode::Data, naming `origin` and the component, for anything unsupported, and
// ErrorCode::Missing if a pattern needs a regex engine that is not installed.
HfPipeline hf_pipeline_from(const Json& tokenizer, std::string_view origin);

// A tokenizer with the ids and the decoding of Hugging Face tokenizers. Its kind() is
// "huggingface", its serialize() is `file`. Two differences: only encode_with_specials() finds
// special tokens, and each byte that is not valid UTF-8 becomes U+FFFD.
std::unique_ptr<Tokenizer> hf_pipeline_tokenizer(HfPipeline pipeline, std::string file);

}  // namespace ingot
