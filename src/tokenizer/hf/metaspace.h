// tokenizer.json's Metaspace, a pre-tokenizer and a decoder.
#pragma once

#include <string>
#include <string_view>

#include "tokenizer/hf/json_fields.h"

namespace ingot {

struct HfMetaspace {
  enum class Prefix { Never, First, Always };  // before which texts a mark is put
  Prefix prefix = Prefix::Always;
  bool split = true;        // at the marks, each of which begins a word
  std::string replacement;  // of a space: the mark, one character

  // Throws ErrorCode::Data, naming `origin`, where it cannot be followed.
  HfMetaspace(const Json& part, std::string_view origin);
};

}  // namespace ingot
