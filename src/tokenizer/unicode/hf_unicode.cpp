#include "tokenizer/unicode/hf_unicode.h"

#include <utf8proc.h>

#include <string_view>

#include "core/text/code_point_map.h"
#include "core/text/utf8.h"
#include "tokenizer/unicode/unicode_classes.h"
#include "tokenizer/unicode/utf8proc_map.h"

namespace ingot {
namespace {

using text::CodePointRun;
#include "tokenizer/unicode/hf_unicode.inc"

constexpr uint8_t kKept = 1, kCombines = 2;
uint8_t differences_of(uint32_t code_point) {
  static const text::CodePointMap<uint8_t> map(kDifferenceRuns);
  return map[code_point];
}

// A character that is younger than Hugging Face's Unicode: it changes nothing and joins nothing.
bool stays(uint32_t code_point) {
  const auto* properties = utf8proc_get_property(static_cast<utf8proc_int32_t>(code_point));
  return (differences_of(code_point) & kKept) != 0 ||
         (properties->combining_class != 0 && !is_combining_mark(code_point));
}

int options_of(UnicodeForm form) {
  const bool composes = form == UnicodeForm::Nfc || form == UnicodeForm::Nfkc;
  const bool compatible = form == UnicodeForm::Nfkc || form == UnicodeForm::Nfkd;
  return UTF8PROC_STABLE | (composes ? UTF8PROC_COMPOSE : UTF8PROC_DECOMPOSE) |
         (compatible ? UTF8PROC_COMPAT : 0);
}

// The rest is utf8proc's; ASCII and U+0130 are the caller's.
uint32_t lower_of(uint32_t code_point) {
  static const text::CodePointMap<int32_t> map(kLowerRuns);
  const auto point = static_cast<int32_t>(code_point);
  const int32_t offset = map[code_point];
  return static_cast<uint32_t>(offset != 0 ? point + offset : utf8proc_tolower(point));
}

}  // namespace

bool is_combining_mark(uint32_t code_point) {
  return (differences_of(code_point) & kCombines) != 0;
}

bool is_young_mark(uint32_t code_point) {
  static const text::CodePointMap<uint8_t> changed(kCategoryRuns);
  const uint8_t category = changed[code_point];
  return category >= UTF8PROC_CATEGORY_MN && category <= UTF8PROC_CATEGORY_ME;
}

// ASCII stays as it is, except that a mark may follow its last character.
void append_form(std::string_view text, UnicodeForm form, std::string& out) {
  const int options = options_of(form);
  size_t stretch = 0;  // text from here on is not in `out` yet
  for (size_t at = 0; at < text.size();) {
    const size_t end = text::ascii_end(text, at);
    if (end > at + 1) {
      append_mapped(text.substr(stretch, at - stretch), options, out);
      out.append(text, at, end - 1 - at);
      stretch = end - 1;
    }
    at = end;
    if (at == text.size()) break;
    const text::Decoded c = text::decode_first(text.substr(at));
    if (stays(c.code_point)) {
      append_mapped(text.substr(stretch, at - stretch), options, out);
      out.append(text, at, c.size);
      stretch = at + c.size;
    }
    at += c.size;
  }
  append_mapped(text.substr(stretch), options, out);
}

void append_lower(std::string_view text, std::string& out) {
  while (!text.empty()) {
    const text::Decoded c = text::decode_first(text);
    text.remove_prefix(c.size);
    if (c.code_point < 0x80) {
      out +=
          static_cast<char>(c.code_point | (c.code_point >= 'A' && c.code_point <= 'Z' ? 0x20 : 0));
      continue;
    }
    constexpr uint32_t kDottedI = 0x130;  // the one capital that becomes two characters
    if (c.code_point == kDottedI) {
      out += "i\xCC\x87";
      continue;
    }
    text::append_character(out, lower_of(c.code_point));
  }
}

uint8_t hf_classes_of(uint32_t code_point) {
  static const text::CodePointMap<uint8_t> map(kClassRuns);
  return map[code_point];
}

std::vector<HfProperty> hf_properties() {
  // By utf8proc's numbers of categories.
  static constexpr std::string_view kCategories[] = {
      "Cn", "Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Mc", "Me", "Nd", "Nl", "No", "Pc", "Pd", "Ps",
      "Pe", "Pi", "Pf", "Po", "Sm", "Sc", "Sk", "So", "Zs", "Zl", "Zp", "Cc", "Cf", "Cs", "Co"};
  // The others are in Unicode 14, the engine's, as they are in 16.
  static constexpr std::string_view kNames[] = {"L",  "Lu", "Ll", "Lm", "Lo", "M",  "Mn",
                                                "Mc", "N",  "Nd", "No", "P",  "Pd", "Po",
                                                "S",  "Sm", "So", "C",  "Cn"};
  std::vector<HfProperty> properties;
  for (const std::string_view name : kNames) properties.push_back({std::string(name), {}});
  properties.push_back({std::string(kHfWordProperty), {}});
  const auto is_word = [](uint32_t point) {
    constexpr uint32_t kNonJoiner = 0x200C, kJoiner = 0x200D;
    return (classes_of(point) & kWord) != 0 && point != kNonJoiner && point != kJoiner;
  };
  const text::CodePointMap<uint8_t> changed(kCategoryRuns);
  for (uint32_t point = 0; point < text::kCodePoints; ++point) {
    int category = utf8proc_category(static_cast<utf8proc_int32_t>(point));
    if (changed[point] != 0) category = changed[point];
    for (auto& [name, ranges] : properties) {
      const bool has =
          name == kHfWordProperty ? is_word(point) : kCategories[category].starts_with(name);
      if (!has) continue;
      if (ranges.empty() || ranges.back() + 1 != point) ranges.insert(ranges.end(), 2, point);
      ranges.back() = point;
    }
  }
  return properties;
}

}  // namespace ingot
