// The normalizers of tokenizer.json, with the results of Hugging Face tokenizers.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "tokenizer/hf/pattern.h"
#include "tokenizer/sentencepiece/charsmap.h"
#include "tokenizer/unicode/hf_unicode.h"

namespace ingot {

class HfNormalizer {
 public:
  HfNormalizer() = default;  // changes nothing
  // Supports Prepend, Replace, NFC, NFD, NFKC, NFKD, Strip, StripAccents, Lowercase, Precompiled,
  // Nmt, BertNormalizer, ByteLevel, and sequences of them. Throws ErrorCode::Data, naming the
  // component and `origin`, for anything else.
  HfNormalizer(const nlohmann::json& normalizer, std::string_view origin);

  bool empty() const { return steps_.empty(); }
  bool ends_with_marks_for_spaces() const;  // the last step replaces every space by U+2581
  void drop_last() { steps_.pop_back(); }

  // Replaces `text`, which must be valid UTF-8. False: characters at its beginning were dropped in
  // a way that Hugging Face tracks: it then no longer counts as the beginning of the input.
  bool normalize(std::string& text) const;

 private:
  enum class Kind {
    Prepend,
    Replace,
    ReplacePattern,
    ReplaceSpaces,
    TrimSpaces,
    Form,
    Strip,
    Accents,
    Lower,
    Map,
    Nmt,
    Clean,
    SpaceChinese,
    Nonspacing,
    ByteLevel,
  };
  struct Step {
    Kind kind;
    std::string pattern, content;  // Prepend, Replace, ReplaceSpaces
    UnicodeForm form = UnicodeForm::Nfc;
    bool left = false, right = false;  // Strip
    size_t place = 0;                  // Map: index into maps_; ReplacePattern: into patterns_
  };
  struct Map {
    CharsMap rules;
    std::bitset<CharsMap::kBasicPlane> replaced;
  };

  void add(const nlohmann::json& part, std::string_view origin);
  void add_replace(const nlohmann::json& part, std::string_view origin);
  void add_bert(const nlohmann::json& part, std::string_view origin);
  bool apply(const Step& step, std::string& text) const;
  static std::string mapped(const Map& map, std::string_view text);

  std::vector<Step> steps_;
  std::vector<Map> maps_;
  std::vector<HfPattern> patterns_;
};

}  // namespace ingot
