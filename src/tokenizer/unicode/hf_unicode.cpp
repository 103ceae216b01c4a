#include "tokenizer/unicode/hf_unicode.h"

#include <utf8proc.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

#include "core/error.h"
#include "tokenizer/unicode/unicode_classes.h"

namespace ingot {
namespace {

struct Range {
  uint32_t first, last;
};
struct Lowered {
  uint32_t from, to;
};
#include "tokenizer/unicode/hf_unicode.inc"

template <size_t n>
bool holds(const Range (&ranges)[n], uint32_t code_point) {
  const auto* range =
      std::upper_bound(std::begin(ranges), std::end(ranges), code_point,
                       [](uint32_t point, const Range& r) { return point < r.first; });
  return range != std::begin(ranges) && code_point <= (range - 1)->last;
}

// A character that is younger than Hugging Face's Unicode: it changes nothing and joins nothing.
bool stays(uint32_t code_point) {
  const auto* properties = utf8proc_get_property(static_cast<utf8proc_int32_t>(code_point));
  return holds(kKept, code_point) ||
         (properties->combining_class != 0 && !is_combining_mark(code_point));
}

int options_of(UnicodeForm form) {
  const bool composes = form == UnicodeForm::Nfc || form == UnicodeForm::Nfkc;
  const bool compatible = form == UnicodeForm::Nfkc || form == UnicodeForm::Nfkd;
  return UTF8PROC_STABLE | (composes ? UTF8PROC_COMPOSE : UTF8PROC_DECOMPOSE) |
         (compatible ? UTF8PROC_COMPAT : 0);
}

void append_mapped(std::string_view text, int options, std::string& out) {
  if (text.empty()) return;
  utf8proc_uint8_t* mapped = nullptr;
  const utf8proc_ssize_t size = utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                                             static_cast<utf8proc_ssize_t>(text.size()), &mapped,
                                             static_cast<utf8proc_option_t>(options));
  const std::unique_ptr<utf8proc_uint8_t, decltype(&std::free)> owner(mapped, std::free);
  check(size >= 0, ErrorCode::Internal, "the normal form of {} bytes: {}", text.size(),
        utf8proc_errmsg(size));
  out.append(reinterpret_cast<const char*>(mapped), static_cast<size_t>(size));
}

void append_character(uint32_t code_point, std::string& out) {
  utf8proc_uint8_t bytes[4];
  const auto size = utf8proc_encode_char(static_cast<utf8proc_int32_t>(code_point), bytes);
  out.append(reinterpret_cast<const char*>(bytes), static_cast<size_t>(size));
}

}  // namespace

bool is_combining_mark(uint32_t code_point) {
  return code_point >= 0x300 && holds(kMarks, code_point);
}

// ASCII stays as it is, except that a mark may follow its last character.
void append_form(std::string_view text, UnicodeForm form, std::string& out) {
  const int options = options_of(form);
  size_t stretch = 0;  // text from here on is not in `out` yet
  for (size_t at = 0; at < text.size();) {
    size_t end = at;
    while (end < text.size() && static_cast<uint8_t>(text[end]) < 0x80) ++end;
    if (end > at + 1) {
      append_mapped(text.substr(stretch, at - stretch), options, out);
      out.append(text, at, end - 1 - at);
      stretch = end - 1;
    }
    at = end;
    if (at == text.size()) break;
    const Character c = first_character(text.substr(at));
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
    const Character c = first_character(text);
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
    const auto* known = std::find_if(std::begin(kLowered), std::end(kLowered),
                                     [&](const Lowered& l) { return l.from == c.code_point; });
    append_character(
        known != std::end(kLowered)
            ? known->to
            : static_cast<uint32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(c.code_point))),
        out);
  }
}

}  // namespace ingot
