// Any other tokenizer.json: Hugging Face's normalizer, pre-tokenizer, model and decoder, one after
// the other.
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

// Throws ErrorCode::Data, naming `origin` and the component, on anything that is not understood,
// and ErrorCode::Missing where a pattern needs an engine that is not there.
HfPipeline hf_pipeline_from(const Json& tokenizer, std::string_view origin);

// A tokenizer that gives the ids that Hugging Face tokenizers gives, and decodes as it does. Its
// kind() is "huggingface", its serialize() is `file`. Other than there, special tokens are found by
// encode_with_specials() alone, and text that is no UTF-8 has U+FFFD in place of each such byte.
std::unique_ptr<Tokenizer> hf_pipeline_tokenizer(HfPipeline pipeline, std::string file);

}  // namespace ingot
