// The pre-tokenizers of tokenizer.json: split text into words for the model, with the results of
// Hugging Face tokenizers.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tokenizer/hf/metaspace.h"
#include "tokenizer/hf/pattern.h"

namespace ingot {

struct HfWord {
  uint32_t begin, end;  // in HfWords::text; not empty
};

struct HfWords {
  std::string text;  // valid UTF-8, shorter than 4 GiB
  std::vector<HfWord> words;
  bool at_start;  // whether the first word is at the beginning of the input

  std::string_view spelling(const HfWord& word) const {
    return std::string_view(text).substr(word.begin, word.end - word.begin);
  }
};

class HfPreTokenizer {
 public:
  // Supports Split, ByteLevel, Metaspace, Whitespace, WhitespaceSplit, Punctuation, Digits,
  // BertPreTokenizer, CharDelimiterSplit, sequences of them, or none. Throws ErrorCode::Data,
  // naming the component and `origin`, for anything else.
  HfPreTokenizer(const nlohmann::json& pre_tokenizer, std::string_view origin);

  // Starts with one word: the whole text, which must be valid UTF-8 and not empty.
  HfWords words_of(std::string text, bool at_start) const;

 private:
  enum class Kind {
    Pattern,
    Numbers,
    Punctuation,
    Spaces,
    Character,
    Words,
    ByteLevel,
    Metaspace,
  };
  // The treatment of a match, and of the text between matches.
  enum class Behavior { Removed, Isolated, MergedWithPrevious, MergedWithNext, Contiguous };
  struct Step {
    Kind kind;
    Behavior behavior = Behavior::Isolated;
    bool invert = false;                 // the text between matches counts as the matches
    bool add_prefix_space = false;       // ByteLevel
    uint32_t character = 0;              // Character; Metaspace: the mark
    std::optional<HfPattern> pattern{};  // Pattern; ByteLevel, if it has one
    std::optional<HfMetaspace> metaspace{};
  };
  struct Part {
    uint32_t begin, end;
    bool is_match;
  };

  void add(const nlohmann::json& part, std::string_view origin);
  void add_split(const nlohmann::json& part, std::string_view origin);
  static Behavior behavior_of(const nlohmann::json& part, Behavior otherwise,
                              std::string_view origin);

  static void apply(const Step& step, HfWords& words);
  static void split(const Step& step, HfWords& words);
  static void find_parts(const Step& step, std::string_view text, std::vector<Part>& parts);
  static void append_words(const std::vector<Part>& parts, Behavior behavior, uint32_t begin,
                           std::vector<HfWord>& words);
  static bool is_match(const Step& step, uint32_t code_point);
  static void spell_bytes_of(const Step& step, HfWords& words);
  static void put_marks(const Step& step, HfWords& words);

  std::vector<Step> steps_;
};

}  // namespace ingot
