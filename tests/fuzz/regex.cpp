// A pattern and a text, both arbitrary: the pattern is refused, or its matches lie in the text, one
// after the other, on boundaries of characters; or it is stopped. Input: a byte n, the pattern's n
// bytes, the text.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "core/error/error.h"
#include "core/text/utf8.h"
#include "tokenizer/hf/regex/hf_regex.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 1) return 0;
  const std::string_view rest(reinterpret_cast<const char*>(data) + 1, size - 1);
  const size_t pattern_size = std::min<size_t>(data[0], rest.size());
  const std::string pattern = ingot::valid_utf8(rest.substr(0, pattern_size));
  const std::string text = ingot::valid_utf8(rest.substr(pattern_size));

  try {
    size_t end = 0;
    ingot::HfRegex(pattern, "fuzz").for_each_match(text, [&](const ingot::RegexMatch& match) {
      if (match.begin < end || match.end < match.begin || match.end > text.size()) abort();
      for (const size_t at : {match.begin, match.end}) {
        if (at < text.size() && ingot::text::is_continuation(text[at])) abort();
      }
      end = match.end;
    });
  } catch (const ingot::Error&) {
  }
  return 0;
}
