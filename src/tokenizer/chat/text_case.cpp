#include "tokenizer/chat/text_case.h"

#include <utf8proc.h>

#include <algorithm>
#include <functional>

#include "core/text/utf8.h"
#include "tokenizer/chat/value.h"

namespace ingot::chat {
namespace {

enum class Case { Lower, Upper, Title };

// Letters that become several; utf8proc has single ones only.
struct Several {
  uint32_t code_point;
  std::string_view lower, upper, title;
};
constexpr Several kSeveral[] = {{0xDF, "ß", "SS", "Ss"},     {0x130, "i\u0307", "İ", "İ"},
                                {0x149, "ŉ", "ʼN", "ʼN"},    {0x1F0, "ǰ", "J\u030C", "J\u030C"},
                                {0x587, "և", "ԵՒ", "Եւ"},    {0x1E9E, "ß", "ẞ", "ẞ"},
                                {0xFB00, "ﬀ", "FF", "Ff"},   {0xFB01, "ﬁ", "FI", "Fi"},
                                {0xFB02, "ﬂ", "FL", "Fl"},   {0xFB03, "ﬃ", "FFI", "Ffi"},
                                {0xFB04, "ﬄ", "FFL", "Ffl"}, {0xFB05, "ﬅ", "ST", "St"},
                                {0xFB06, "ﬆ", "ST", "St"}};

utf8proc_int32_t code_point_of(std::string_view character) {
  const text::Decoded c = text::decode_first(character);
  return static_cast<utf8proc_int32_t>(c.code_point);
}

std::string in_case(std::string_view character, Case wanted) {
  const utf8proc_int32_t code = code_point_of(character);
  for (const Several& several : kSeveral) {
    if (several.code_point != static_cast<uint32_t>(code)) continue;
    return std::string(wanted == Case::Lower   ? several.lower
                       : wanted == Case::Upper ? several.upper
                                               : several.title);
  }
  const utf8proc_int32_t changed = wanted == Case::Lower   ? utf8proc_tolower(code)
                                   : wanted == Case::Upper ? utf8proc_toupper(code)
                                                           : utf8proc_totitle(code);
  if (changed == code) return std::string(character);
  std::string out;
  text::append_character(out, static_cast<uint32_t>(changed));
  return out;
}

bool is_cased(std::string_view character) {
  return in_case(character, Case::Upper) != in_case(character, Case::Lower);
}

using Characters = std::vector<std::string_view>;

// A small sigma that ends a word is another letter.
std::string lowered(const Characters& characters, size_t i) {
  if (characters[i] != "Σ") return in_case(characters[i], Case::Lower);
  const bool after = i > 0 && is_cased(characters[i - 1]);
  const bool before = i + 1 < characters.size() && is_cased(characters[i + 1]);
  return after && !before ? "ς" : "σ";
}

// The first character of each part as a title has it, the rest small; parts begin after what
// `is_break` says.
std::string titled(std::string_view text, Case first,
                   const std::function<bool(std::string_view)>& is_break) {
  std::string out;
  const Characters characters = characters_of(text);
  bool begins = true;
  for (size_t i = 0; i < characters.size(); ++i) {
    out += begins ? in_case(characters[i], first) : lowered(characters, i);
    begins = is_break(characters[i]);
  }
  return out;
}

bool is_of(std::string_view character, std::string_view method) {
  const utf8proc_int32_t code = code_point_of(character);
  const utf8proc_category_t category = utf8proc_category(code);
  const bool letter = category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_LO;
  const bool decimal = category == UTF8PROC_CATEGORY_ND;
  const bool raised = code == 0xB2 || code == 0xB3 || code == 0xB9 || code == 0x2070 ||
                      (code >= 0x2074 && code <= 0x2079) || (code >= 0x2080 && code <= 0x2089);
  if (method == "isalpha") return letter;
  if (method == "isdecimal") return decimal;
  if (method == "isdigit") return decimal || raised;
  const bool numeric = category >= UTF8PROC_CATEGORY_ND && category <= UTF8PROC_CATEGORY_NO;
  if (method == "isnumeric") return numeric;
  if (method == "isalnum") return letter || numeric;
  if (method == "isascii") return code < 0x80;
  return is_python_space(character);  // isspace
}

}  // namespace

std::string upper(std::string_view text) {
  std::string out;
  for (const std::string_view character : characters_of(text)) {
    out += in_case(character, Case::Upper);
  }
  return out;
}

std::string lower(std::string_view text) {
  std::string out;
  const Characters characters = characters_of(text);
  for (size_t i = 0; i < characters.size(); ++i) out += lowered(characters, i);
  return out;
}

std::string swapped_case(std::string_view text) {
  std::string out;
  const Characters characters = characters_of(text);
  for (size_t i = 0; i < characters.size(); ++i) {
    const bool is_upper = in_case(characters[i], Case::Lower) != characters[i];
    out += is_upper ? lowered(characters, i) : in_case(characters[i], Case::Upper);
  }
  return out;
}

std::string capitalized(std::string_view text) {
  return titled(text, Case::Title, [](std::string_view) { return false; });
}

std::string title(std::string_view text) {
  return titled(text, Case::Title, [](std::string_view c) { return !is_cased(c); });
}

std::string jinja_title(std::string_view text) {
  return titled(text, Case::Upper, [](std::string_view c) {
    return is_python_space(c) || std::string_view("-({[<").find(c) != std::string_view::npos;
  });
}

bool has_only(std::string_view text, std::string_view method) {
  const Characters characters = characters_of(text);
  if (method == "isupper" || method == "islower") {
    const std::string other = method == "isupper" ? lower(text) : upper(text);
    const std::string same = method == "isupper" ? upper(text) : lower(text);
    return std::any_of(characters.begin(), characters.end(), is_cased) && same == text &&
           other != text;
  }
  if (method == "isascii" && text.empty()) return true;
  return !text.empty() && std::all_of(characters.begin(), characters.end(),
                                      [&](std::string_view c) { return is_of(c, method); });
}

}  // namespace ingot::chat
