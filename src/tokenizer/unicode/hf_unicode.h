// Unicode as in Hugging Face tokenizers, whose parts use different versions: normal forms and marks
// of Unicode 9, lower case of Unicode 17, and so on. Texts are valid UTF-8.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ingot {

enum class UnicodeForm { Nfc, Nfd, Nfkc, Nfkd };

void append_form(std::string_view text, UnicodeForm form, std::string& out);
void append_lower(std::string_view text, std::string& out);  // character by character
bool is_combining_mark(uint32_t code_point);
bool is_young_mark(uint32_t code_point);  // in Unicode 16, but not in utf8proc's version

// Character classes of its pre-tokenizers and BertNormalizer.
enum HfClass : uint8_t {
  kHfNumeric = 1,      // Digits
  kHfPunctuation = 2,  // Punctuation, BertPreTokenizer
  kHfControl = 4,      // BertNormalizer: clean_text drops it
  kHfAccent = 8,       // BertNormalizer: strip_accents drops it
  kHfChinese = 16,     // BertNormalizer: handle_chinese_chars puts spaces around it
};
uint8_t hf_classes_of(uint32_t code_point);  // HfClass flags

// A property in its regular expressions, such as "Lu" or "N": Unicode 16's general categories that
// differ from older versions, and \w, under a name of our own.
inline constexpr std::string_view kHfWordProperty = "ingotword";
struct HfProperty {
  std::string name;
  std::vector<uint32_t> ranges;  // first and last code point of each
};
std::vector<HfProperty> hf_properties();

}  // namespace ingot
