#include "tokenizer/hf/pre_tokenizer.h"

#include <algorithm>

#include "core/error/error.h"
#include "core/text/utf8.h"
#include "tokenizer/bpe/byte_alphabet.h"
#include "tokenizer/hf/json_fields.h"
#include "tokenizer/unicode/hf_unicode.h"
#include "tokenizer/unicode/unicode_classes.h"

namespace ingot {

HfPreTokenizer::HfPreTokenizer(const Json& pre_tokenizer, std::string_view origin) {
  if (!pre_tokenizer.is_null()) add(pre_tokenizer, origin);
}

void HfPreTokenizer::add(const Json& part, std::string_view origin) {
  const std::string type = text_of(part, "type");
  if (type == "Sequence") {
    const Json& parts = member(part, "pretokenizers");
    check(parts.is_array(), ErrorCode::Data, "{}: a Sequence without its list of pre-tokenizers",
          origin);
    for (const Json& one : parts) add(one, origin);
  } else if (type == "Split") {
    add_split(part, origin);
  } else if (type == "ByteLevel") {
    Step step{Kind::ByteLevel};
    step.add_prefix_space = flag(part, "add_prefix_space", true, origin);
    if (flag(part, "use_regex", true, origin)) step.pattern.emplace(Split::Gpt2);
    steps_.push_back(std::move(step));
  } else if (type == "Metaspace") {
    Step step{Kind::Metaspace, Behavior::MergedWithNext};
    step.metaspace.emplace(part, origin);
    step.character = text::decode_first(step.metaspace->replacement).code_point;
    steps_.push_back(std::move(step));
  } else if (type == "Whitespace") {
    steps_.push_back({Kind::Words, Behavior::Removed});
  } else if (type == "WhitespaceSplit") {
    steps_.push_back({Kind::Spaces, Behavior::Removed});
  } else if (type == "Punctuation") {
    steps_.push_back({Kind::Punctuation, behavior_of(part, Behavior::Isolated, origin)});
  } else if (type == "Digits") {
    const bool each = flag(part, "individual_digits", false, origin);
    steps_.push_back({Kind::Numbers, each ? Behavior::Isolated : Behavior::Contiguous});
  } else if (type == "BertPreTokenizer") {
    steps_.push_back({Kind::Spaces, Behavior::Removed});
    steps_.push_back({Kind::Punctuation, Behavior::Isolated});
  } else if (type == "CharDelimiterSplit") {
    const std::string delimiter = text_of(part, "delimiter");
    check(!delimiter.empty() && text::decode_first(delimiter).size == delimiter.size(),
          ErrorCode::Data, "{}: CharDelimiterSplit: expected one character, got \"{}\"", origin,
          delimiter);
    Step step{Kind::Character, Behavior::Removed};
    step.character = text::decode_first(delimiter).code_point;
    steps_.push_back(std::move(step));
  } else {
    check(false, ErrorCode::Data,
          "{}: pre-tokenizer {} is not supported: expected Split, ByteLevel, Metaspace, "
          "Whitespace, WhitespaceSplit, Punctuation, Digits, BertPreTokenizer, "
          "CharDelimiterSplit or a Sequence of them",
          origin, part.dump());
  }
}

void HfPreTokenizer::add_split(const Json& part, std::string_view origin) {
  Step step{Kind::Pattern, behavior_of(part, Behavior::Isolated, origin)};
  step.invert = flag(part, "invert", false, origin);
  step.pattern.emplace(member(part, "pattern"), "pre-tokenizer Split", origin);
  steps_.push_back(std::move(step));
}

HfPreTokenizer::Behavior HfPreTokenizer::behavior_of(const Json& part, Behavior otherwise,
                                                     std::string_view origin) {
  const std::string name = text_of(part, "behavior");
  if (member(part, "behavior").is_null()) return otherwise;
  static constexpr std::pair<std::string_view, Behavior> kNames[] = {
      {"Removed", Behavior::Removed},
      {"Isolated", Behavior::Isolated},
      {"MergedWithPrevious", Behavior::MergedWithPrevious},
      {"MergedWithNext", Behavior::MergedWithNext},
      {"Contiguous", Behavior::Contiguous}};
  for (const auto& [known, behavior] : kNames) {
    if (known == name) return behavior;
  }
  throw Error(ErrorCode::Data,
              fmt::format("{}: pre-tokenizer {}: expected a behavior of Removed, Isolated, "
                          "MergedWithPrevious, MergedWithNext or Contiguous",
                          origin, part.dump()));
}

HfWords HfPreTokenizer::words_of(std::string text, bool at_start) const {
  HfWords words{std::move(text), {}, at_start};
  const auto check_size = [&] {
    check(words.text.size() < UINT32_MAX, ErrorCode::Data,
          "a text of {} bytes: expected less than 4 GiB; cut it", words.text.size());
  };
  check_size();
  words.words.push_back({0, static_cast<uint32_t>(words.text.size())});
  for (const Step& step : steps_) {
    apply(step, words);
    check_size();
  }
  return words;
}

void HfPreTokenizer::apply(const Step& step, HfWords& words) {
  if (step.kind == Kind::Metaspace) {
    put_marks(step, words);
    if (step.metaspace->split) split(step, words);
  } else if (step.kind == Kind::ByteLevel) {
    spell_bytes_of(step, words);
  } else {
    split(step, words);
  }
}

void HfPreTokenizer::split(const Step& step, HfWords& words) {
  std::vector<HfWord> split;
  std::vector<Part> parts;
  const bool starts = words.at_start && !words.words.empty();
  const uint32_t start = starts ? words.words[0].begin : 0;
  for (const HfWord& word : words.words) {
    parts.clear();
    find_parts(step, words.spelling(word), parts);
    append_words(parts, step.behavior, word.begin, split);
  }
  words.words = std::move(split);
  words.at_start = starts && !words.words.empty() && words.words[0].begin == start;
}

bool HfPreTokenizer::is_match(const Step& step, uint32_t code_point) {
  switch (step.kind) {
    case Kind::Numbers:
      return (hf_classes_of(code_point) & kHfNumeric) != 0;
    case Kind::Punctuation:
      return (hf_classes_of(code_point) & kHfPunctuation) != 0;
    case Kind::Spaces:
      return (classes_of(code_point) & kSpace) != 0;
    default:
      return code_point == step.character;
  }
}

void HfPreTokenizer::find_parts(const Step& step, std::string_view text, std::vector<Part>& parts) {
  uint32_t done = 0;  // where the last match ended
  const auto add = [&](size_t begin, size_t end) {
    const auto from = static_cast<uint32_t>(begin), to = static_cast<uint32_t>(end);
    if (done != from) parts.push_back({done, from, step.invert});
    parts.push_back({from, to, !step.invert});
    done = to;
  };
  if (step.kind == Kind::Pattern || step.kind == Kind::ByteLevel) {
    step.pattern->for_each_match(text, [&](const RegexMatch& m) { add(m.begin, m.end); });
  } else if (step.kind == Kind::Words) {  // \w+|[^\w\s]+, of which the rest is removed
    const auto kind_of = [](uint8_t classes) { return classes & (kWord | kSpace); };
    for (size_t at = 0; at < text.size();) {
      const size_t begin = at;
      const int kind = kind_of(first_character(text.substr(at)).classes);
      while (at < text.size() && kind_of(first_character(text.substr(at)).classes) == kind) {
        at += text::character_bytes(text[at]);
      }
      if (kind & kSpace) {
        add(begin, at);
      } else {
        parts.push_back({static_cast<uint32_t>(begin), static_cast<uint32_t>(at), false});
        done = static_cast<uint32_t>(at);
      }
    }
  } else {
    for (size_t at = 0; at < text.size();) {
      const text::Decoded c = text::decode_first(text.substr(at));
      if (is_match(step, c.code_point)) add(at, at + c.size);
      at += c.size;
    }
  }
  const auto end = static_cast<uint32_t>(text.size());
  if (done != end) parts.push_back({done, end, step.invert});
}

// Contiguous joins parts that are both matches or both none; the merging ones join a match to what
// is before or after it, but for a match that follows another, or is before one.
void HfPreTokenizer::append_words(const std::vector<Part>& parts, Behavior behavior, uint32_t begin,
                                  std::vector<HfWord>& words) {
  const size_t first = words.size();
  const auto add = [&](const Part& part) {
    words.push_back({begin + part.begin, begin + part.end});
  };
  bool after_match = false;
  for (size_t i = 0; i < parts.size(); ++i) {
    const Part& part = parts[i];
    bool joins = false;  // the word before
    switch (behavior) {
      case Behavior::Removed:
        if (part.is_match) continue;
        break;
      case Behavior::Isolated:
        break;
      case Behavior::Contiguous:
        joins = part.is_match == after_match;
        break;
      case Behavior::MergedWithPrevious:
        joins = part.is_match && !after_match;
        break;
      case Behavior::MergedWithNext:
        // A match joins the part after it, which is no match, or is the last of a run of matches.
        joins = i > 0 && parts[i - 1].is_match && !part.is_match;
        break;
    }
    if (joins && words.size() > first) {
      words.back().end = begin + part.end;
    } else {
      add(part);
    }
    after_match = part.is_match;
  }
  const auto is_empty = [](const HfWord& word) { return word.begin == word.end; };
  words.erase(
      std::remove_if(words.begin() + static_cast<std::ptrdiff_t>(first), words.end(), is_empty),
      words.end());
}

// A space in front of each word that has none, then GPT-2's pattern, then the bytes as characters.
void HfPreTokenizer::spell_bytes_of(const Step& step, HfWords& words) {
  if (step.add_prefix_space) {
    HfWords spaced{{}, {}, words.at_start};
    for (const HfWord& word : words.words) {
      const auto begin = static_cast<uint32_t>(spaced.text.size());
      if (words.text[word.begin] != ' ') spaced.text += ' ';
      spaced.text.append(words.text, word.begin, word.end - word.begin);
      spaced.words.push_back({begin, static_cast<uint32_t>(spaced.text.size())});
    }
    words = std::move(spaced);
  }
  if (step.pattern) split(step, words);
  HfWords spelt{{}, {}, words.at_start};
  spelt.text.reserve(words.text.size() + words.text.size() / 4);
  for (const HfWord& word : words.words) {
    const auto begin = static_cast<uint32_t>(spelt.text.size());
    append_spelling(words.spelling(word), spelt.text);
    spelt.words.push_back({begin, static_cast<uint32_t>(spelt.text.size())});
  }
  words = std::move(spelt);
}

void HfPreTokenizer::put_marks(const Step& step, HfWords& words) {
  const HfMetaspace& meta = *step.metaspace;
  HfWords marked{{}, {}, words.at_start};
  for (const HfWord& word : words.words) {
    const auto begin = static_cast<uint32_t>(marked.text.size());
    const std::string_view text = words.spelling(word);
    const bool is_first = words.at_start && &word == &words.words.front();
    const bool wanted = meta.prefix == HfMetaspace::Prefix::Always ||
                        (meta.prefix == HfMetaspace::Prefix::First && is_first);
    if (wanted && text[0] != ' ' && !text.starts_with(meta.replacement)) {
      marked.text += meta.replacement;
    }
    for (const char c : text) {
      if (c == ' ') {
        marked.text += meta.replacement;
      } else {
        marked.text += c;
      }
    }
    marked.words.push_back({begin, static_cast<uint32_t>(marked.text.size())});
  }
  words = std::move(marked);
}

}  // namespace ingot
