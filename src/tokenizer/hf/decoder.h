// The decoders of tokenizer.json: convert the tokens of ids to text.
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
  // Supports Replace, ByteFallback, Fuse, Strip, Metaspace, ByteLevel, WordPiece, BPEDecoder,
  // sequences of them, or none. Throws ErrorCode::Data, naming the component and `origin`, for
  // anything else.
  HfDecoder(const nlohmann::json& decoder, std::string_view origin);

  // ByteLevel bytes that are not valid UTF-8 stay unchanged.
  std::string decode(std::vector<std::string> tokens) const;
  std::string decode_inside(std::string token) const;  // as it reads between other tokens

 private:
  enum class Kind { Replace, ByteFallback, Fuse, Strip, Metaspace, ByteLevel, WordPiece, Bpe };
  struct Step {
    Kind kind;
    // Strip: the character. Metaspace: the mark. WordPiece: the prefix of tokens inside words. Bpe:
    // the suffix at word ends. Replace: the replacement.
    std::string content;
    size_t start = 0, stop = 0;          // Strip: the maximum number at each end
    bool drops_prefix = false;           // Metaspace: drops the marks in the first token
    bool cleanup = false;                // WordPiece: no space before punctuation
    std::optional<HfPattern> pattern{};  // Replace: what is replaced
  };
  enum class Place { Whole, Inside };  // all tokens of a text, or one inside it

  void add(const nlohmann::json& part, std::string_view origin);
  static void apply(const Step& step, Place place, std::vector<std::string>& tokens);

  std::vector<Step> steps_;
  bool spaces_between_tokens_;  // without a decoder
};

}  // namespace ingot
