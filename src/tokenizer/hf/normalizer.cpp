#include "tokenizer/hf/normalizer.h"

#include <utf8proc.h>

#include "core/error/error.h"
#include "tokenizer/bpe/base64.h"
#include "tokenizer/bpe/byte_alphabet.h"
#include "tokenizer/hf/json_fields.h"
#include "tokenizer/hf/patterns.h"
#include "tokenizer/replace_all.h"
#include "tokenizer/sentencepiece/normalizer.h"
#include "tokenizer/unicode/unicode_classes.h"

namespace ingot {
namespace {

constexpr size_t kMostGrowth = 256;

// Runs of two spaces and more.
void replace_runs_of_spaces(std::string& text, std::string_view content) {
  size_t found = text.find("  ");
  if (found == std::string::npos) return;
  std::string out;
  size_t copied = 0;
  for (; found != std::string::npos; found = text.find("  ", copied)) {
    out.append(text, copied, found - copied) += content;
    copied = std::min(text.find_first_not_of(' ', found), text.size());
  }
  text = out.append(text, copied);
}

// Bytes of White_Space that the text begins or ends with.
size_t spaces_in_front(std::string_view text) {
  size_t size = 0;
  while (size < text.size()) {
    const Character c = first_character(text.substr(size));
    if (!(c.classes & kSpace)) break;
    size += c.size;
  }
  return size;
}
size_t spaces_at_end(std::string_view text) {
  size_t left = text.size();
  while (left > 0) {
    const Character c = last_character(text.substr(0, left));
    if (!(c.classes & kSpace)) break;
    left -= c.size;
  }
  return text.size() - left;
}

// The end of the user-perceived character that begins at `begin`. Marks that utf8proc does not know
// yet count as one that it does.
size_t grapheme_end(std::string_view text, size_t begin) {
  const auto known = [](const Character& c) -> utf8proc_int32_t {
    constexpr utf8proc_int32_t kAcute = 0x301;
    return is_young_mark(c.code_point) ? kAcute : static_cast<utf8proc_int32_t>(c.code_point);
  };
  utf8proc_int32_t state = 0;
  Character left = first_character(text.substr(begin));
  size_t end = begin + left.size;
  while (end < text.size()) {
    const Character right = first_character(text.substr(end));
    if (utf8proc_grapheme_break_stateful(known(left), known(right), &state)) break;
    end += right.size;
    left = right;
  }
  return end;
}

// Without the characters that `is_dropped`. False: the first was one.
template <class IsDropped>
bool drop(std::string& text, const IsDropped& is_dropped) {
  const bool whole = text.empty() || !is_dropped(first_character(text));
  std::string out;
  for (std::string_view rest = text; !rest.empty();) {
    const Character c = first_character(rest);
    if (!is_dropped(c)) out.append(rest, 0, c.size);
    rest.remove_prefix(c.size);
  }
  text = std::move(out);
  return whole;
}

// Whether a text that began with `replaced` still begins where it did. To Hugging Face what takes
// the place of several characters stands where the last of them did.
bool keeps_start(std::string_view replaced, std::string_view content) {
  return !content.empty() && first_character(replaced).size == replaced.size();
}

bool is_hf(const Character& c, HfClass flag) {
  return (hf_classes_of(c.code_point) & flag) != 0;
}

// With a plain space in place of characters that `is_space`.
template <class IsSpace>
void put_spaces(std::string& text, const IsSpace& is_space) {
  std::string out;
  for (std::string_view rest = text; !rest.empty();) {
    const Character c = first_character(rest);
    if (is_space(c)) {
      out += ' ';
    } else {
      out.append(rest, 0, c.size);
    }
    rest.remove_prefix(c.size);
  }
  text = std::move(out);
}

// Control characters go, every space becomes a plain one.
bool clean(std::string& text) {
  const bool whole = drop(text, [](const Character& c) { return is_hf(c, kHfControl); });
  put_spaces(text, [](const Character& c) { return (c.classes & kSpace) != 0; });
  return whole;
}

// The same by the lists of SentencePiece's nmt rules.
bool clean_as_nmt(std::string& text) {
  const bool whole = drop(text, [](const Character& c) {
    const uint32_t p = c.code_point;
    return (p >= 0x01 && p <= 0x08) || p == 0x0B || (p >= 0x0E && p <= 0x1F) || p == 0x7F ||
           p == 0x8F || p == 0x9F;
  });
  put_spaces(text, [](const Character& c) {
    const uint32_t p = c.code_point;
    return p == '\t' || p == '\n' || p == '\f' || p == '\r' || p == 0x1680 ||
           (p >= 0x200B && p <= 0x200F) || p == 0x2028 || p == 0x2029 || p == 0x2581 ||
           p == 0xFEFF || p == 0xFFFD;
  });
  return whole;
}

void put_spaces_around_chinese(std::string& text) {
  std::string out;
  for (std::string_view rest = text; !rest.empty();) {
    const Character c = first_character(rest);
    const bool is_chinese = is_hf(c, kHfChinese);
    if (is_chinese) out += ' ';
    out.append(rest, 0, c.size);
    if (is_chinese) out += ' ';
    rest.remove_prefix(c.size);
  }
  text = std::move(out);
}

}  // namespace

HfNormalizer::HfNormalizer(const Json& normalizer, std::string_view origin) {
  if (!normalizer.is_null()) add(normalizer, origin);
}

void HfNormalizer::add(const Json& part, std::string_view origin) {
  const std::string type = text_of(part, "type");
  if (type == "Sequence") {
    const Json& parts = member(part, "normalizers");
    check(parts.is_array(), ErrorCode::Data, "{}: a Sequence without its list of normalizers",
          origin);
    for (const Json& one : parts) add(one, origin);
  } else if (type == "Prepend") {
    steps_.push_back({Kind::Prepend, {}, text_of(part, "prepend")});
  } else if (type == "Replace") {
    add_replace(part, origin);
  } else if (type == "NFC" || type == "NFD" || type == "NFKC" || type == "NFKD") {
    const UnicodeForm form = type == "NFC"    ? UnicodeForm::Nfc
                             : type == "NFD"  ? UnicodeForm::Nfd
                             : type == "NFKC" ? UnicodeForm::Nfkc
                                              : UnicodeForm::Nfkd;
    steps_.push_back({Kind::Form, {}, {}, form});
  } else if (type == "Strip") {
    Step step{Kind::Strip, {}, {}};
    step.left = flag(part, "strip_left", true, origin);
    step.right = flag(part, "strip_right", true, origin);
    steps_.push_back(std::move(step));
  } else if (type == "StripAccents") {
    steps_.push_back({Kind::Accents, {}, {}});
  } else if (type == "Lowercase") {
    steps_.push_back({Kind::Lower, {}, {}});
  } else if (type == "Precompiled") {
    const std::string base64 = text_of(part, "precompiled_charsmap");
    if (base64.empty()) return;
    const std::string charsmap = from_base64(base64);
    check(!charsmap.empty(), ErrorCode::Data,
          "{}: normalizer Precompiled: expected a charsmap in base64", origin);
    Step step{Kind::Map, {}, {}};
    step.place = maps_.size();
    maps_.push_back({CharsMap(charsmap, origin), {}});
    maps_.back().replaced = maps_.back().rules.characters().replaced;
    steps_.push_back(std::move(step));
  } else if (type == "Nmt") {
    steps_.push_back({Kind::Nmt, {}, {}});
  } else if (type == "BertNormalizer") {
    add_bert(part, origin);
  } else if (type == "ByteLevel") {
    steps_.push_back({Kind::ByteLevel, {}, {}});
  } else {
    check(
        false, ErrorCode::Data,
        "{}: normalizer \"{}\" is not supported: expected Prepend, Replace, NFC, NFD, NFKC, NFKD, "
        "Strip, StripAccents, Lowercase, Precompiled, Nmt, BertNormalizer or ByteLevel",
        origin, type);
  }
}

void HfNormalizer::add_bert(const Json& part, std::string_view origin) {
  const bool lower = flag(part, "lowercase", true, origin);
  if (flag(part, "clean_text", true, origin)) steps_.push_back({Kind::Clean, {}, {}});
  if (flag(part, "handle_chinese_chars", true, origin)) {
    steps_.push_back({Kind::SpaceChinese, {}, {}});
  }
  if (flag(part, "strip_accents", lower, origin)) {
    steps_.push_back({Kind::Form, {}, {}, UnicodeForm::Nfd});
    steps_.push_back({Kind::Nonspacing, {}, {}});
  }
  if (lower) steps_.push_back({Kind::Lower, {}, {}});
}

void HfNormalizer::add_replace(const Json& part, std::string_view origin) {
  const Json& pattern = member(part, "pattern");
  const std::string text = text_of(pattern, "String"), regex = text_of(pattern, "Regex");
  const std::string content = text_of(part, "content");
  if (!text.empty()) {
    steps_.push_back({Kind::Replace, text, content});
  } else if (regex == kRunsOfSpaces) {
    steps_.push_back({Kind::ReplaceSpaces, {}, content});
  } else if (regex == kSpacesAround && content.empty()) {
    steps_.push_back({Kind::TrimSpaces, {}, {}});
  } else {
    Step step{Kind::ReplacePattern, {}, content};
    step.place = patterns_.size();
    patterns_.emplace_back(pattern, "normalizer Replace", origin);
    steps_.push_back(std::move(step));
  }
}

bool HfNormalizer::ends_with_marks_for_spaces() const {
  return !steps_.empty() && steps_.back().kind == Kind::Replace && steps_.back().pattern == " " &&
         steps_.back().content == kSpaceMark;
}

bool HfNormalizer::normalize(std::string& text) const {
  // Steps that double the text, one after another, would fill the memory.
  const size_t longest = text.size() * kMostGrowth + kMostGrowth * kMostGrowth;
  bool whole = true;
  for (const Step& step : steps_) {
    whole = apply(step, text) && whole;
    check(text.size() <= longest, ErrorCode::Data,
          "the normalizer makes {} bytes of text more than {} times as long", text.size(),
          kMostGrowth);
  }
  return whole;
}

bool HfNormalizer::apply(const Step& step, std::string& text) const {
  switch (step.kind) {
    case Kind::Prepend:
      if (!text.empty()) text.insert(0, step.content);
      return true;
    case Kind::Replace: {
      const bool whole = !text.starts_with(step.pattern) || keeps_start(step.pattern, step.content);
      replace_all(text, step.pattern, step.content);
      return whole;
    }
    case Kind::ReplacePattern: {
      const std::string first = patterns_[step.place].replace(text, step.content);
      return first.empty() || keeps_start(first, step.content);
    }
    case Kind::ReplaceSpaces: {
      const bool whole = !step.content.empty() || !text.starts_with("  ");
      replace_runs_of_spaces(text, step.content);
      return whole;
    }
    case Kind::TrimSpaces: {
      const bool whole = !text.starts_with(' ');
      while (text.ends_with(' ') || text.ends_with(kSpaceMark)) {
        text.resize(text.size() - (text.ends_with(' ') ? 1 : kSpaceMark.size()));
      }
      text.erase(0, std::min(text.find_first_not_of(' '), text.size()));
      return whole;
    }
    case Kind::Form: {
      std::string out;
      append_form(text, step.form, out);
      text = std::move(out);
      return true;
    }
    case Kind::Strip: {
      if (step.right) text.resize(text.size() - spaces_at_end(text));
      const size_t front = step.left ? spaces_in_front(text) : 0;
      text.erase(0, front);
      return front == 0;
    }
    case Kind::Accents:
      return drop(text, [](const Character& c) { return is_combining_mark(c.code_point); });
    case Kind::Nonspacing:
      return drop(text, [](const Character& c) { return is_hf(c, kHfAccent); });
    case Kind::Nmt:
      return clean_as_nmt(text);
    case Kind::Clean:
      return clean(text);
    case Kind::SpaceChinese:
      put_spaces_around_chinese(text);
      return true;
    case Kind::ByteLevel:
      text = spell_bytes(text);
      return true;
    case Kind::Lower: {
      std::string out;
      append_lower(text, out);
      text = std::move(out);
      return true;
    }
    case Kind::Map:
      text = mapped(maps_[step.place], text);
      return true;
  }
  return true;
}

// Hugging Face looks at user-perceived characters. One of fewer than 6 bytes that begins with what
// a rule replaces, the shortest such rule, becomes that rule's text as a whole; in others each code
// point is looked up. SentencePiece takes the longest rule at each place.
std::string HfNormalizer::mapped(const Map& map, std::string_view text) {
  constexpr size_t kShort = 6;
  std::string out;
  out.reserve(text.size() + text.size() / 8);
  const auto is_replaced = [&](uint32_t code_point) {
    return code_point >= CharsMap::kBasicPlane || map.replaced[code_point];
  };
  const auto add = [&](std::string_view part) {
    const auto match = map.rules.shortest(part);
    out += match.size > 0 ? match.replacement : part;
  };
  for (size_t at = 0; at < text.size();) {
    const auto byte = static_cast<uint8_t>(text[at]);
    const bool alone =
        at + 1 == text.size() || (static_cast<uint8_t>(text[at + 1]) < 0x80 && byte != '\r');
    if (byte < 0x80 && alone && !map.replaced[byte]) {
      out += text[at++];
      continue;
    }
    const std::string_view grapheme = text.substr(at, grapheme_end(text, at) - at);
    at += grapheme.size();
    if (grapheme.size() < kShort && map.rules.shortest(grapheme).size > 0) {
      add(grapheme);
      continue;
    }
    for (size_t i = 0; i < grapheme.size();) {
      const Character c = first_character(grapheme.substr(i));
      const std::string_view part = grapheme.substr(i, c.size);
      if (is_replaced(c.code_point)) {
        add(part);
      } else {
        out += part;
      }
      i += c.size;
    }
  }
  return out;
}

}  // namespace ingot
