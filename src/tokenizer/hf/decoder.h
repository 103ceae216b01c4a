// tokenizer.json's decoders that tokenizers of pieces have: from the tokens of ids to text.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace ingot {

class HfDecoder {
 public:
  // Replace (of a string), ByteFallback, Fuse, Strip, Metaspace, sequences of them, or none. Throws
  // ErrorCode::Data, naming the part and `origin`, for anything else.
  HfDecoder(const nlohmann::json& decoder, std::string_view origin);

  std::string decode(std::vector<std::string> tokens) const;

 private:
  enum class Kind { Replace, ByteFallback, Fuse, Strip, Metaspace };
  struct Step {
    Kind kind;
    std::string pattern, content;  // of Replace; the content is Strip's character, too
    size_t start = 0, stop = 0;    // of Strip: how many at most
    bool drops_prefix = false;     // of Metaspace: the marks in the first token
  };

  void add(const nlohmann::json& part, std::string_view origin);
  static void apply(const Step& step, std::vector<std::string>& tokens);

  std::vector<Step> steps_;
  bool spaces_between_tokens_;  // without a decoder
};

}  // namespace ingot
