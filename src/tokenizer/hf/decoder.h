// tokenizer.json's decoders: from the tokens of ids to text.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tokenizer/hf/pattern.h"

namespace ingot {

class HfDecoder {
 public:
  // Replace, ByteFallback, Fuse, Strip, Metaspace, ByteLevel, WordPiece, BPEDecoder, sequences of
  // them, or none. Throws ErrorCode::Data, naming the part and `origin`, for anything else.
  HfDecoder(const nlohmann::json& decoder, std::string_view origin);

  // Of bytes that ByteLevel has, those that are no UTF-8 stay as they are.
  std::string decode(std::vector<std::string> tokens) const;
  std::string decode_inside(std::string token) const;  // as it reads between other tokens

 private:
  enum class Kind { Replace, ByteFallback, Fuse, Strip, Metaspace, ByteLevel, WordPiece, Bpe };
  struct Step {
    Kind kind;
    // Of Strip: the character; of Metaspace: the mark; of WordPiece: the prefix inside words; of
    // Bpe: the suffix at their ends; of Replace: what comes in.
    std::string content;
    size_t start = 0, stop = 0;          // of Strip: how many at most
    bool drops_prefix = false;           // of Metaspace: the marks in the first token
    bool cleanup = false;                // of WordPiece: no space before punctuation
    std::optional<HfPattern> pattern{};  // of Replace
  };
  enum class Place { Whole, Inside };  // all tokens of a text, or one from its middle

  void add(const nlohmann::json& part, std::string_view origin);
  static void apply(const Step& step, Place place, std::vector<std::string>& tokens);

  std::vector<Step> steps_;
  bool spaces_between_tokens_;  // without a decoder
};

}  // namespace ingot
