// tokenizer.json's Metaspace, a pre-tokenizer and a decoder.
#pragma once

#include <string>
#include <string_view>

#include "tokenizer/hf/json_fields.h"

namespace ingot {

struct HfMetaspace {
  enum class Prefix { Never, First, Always };  // the texts that get a mark in front
  Prefix prefix = Prefix::Always;
  bool split = true;        // split at the marks; each one starts a word
  std::string replacement;  // the mark, one character, for a space

  // Throws ErrorCode::Data, naming `origin`, for unsupported settings.
  HfMetaspace(const Json& part, std::string_view origin);
};

}  // namespace ingot
