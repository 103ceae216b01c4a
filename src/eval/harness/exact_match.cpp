#include "eval/harness/exact_match.h"

#include "core/text/python_text.h"
#include "tokenizer/hf/regex/hf_regex.h"

namespace ingot {
namespace {

constexpr std::string_view kPunctuation =
    R"(!"#$%&'()*+,-./:;<=>?@[\]^_`{|}~)";  // string.punctuation

std::string without_matches(const std::string& text, const HfRegex& regex) {
  std::string kept;
  size_t at = 0;
  regex.for_each_match(text, [&](const RegexMatch& match) {
    kept += text.substr(at, match.begin - at);
    at = match.end;
  });
  return kept + text.substr(at);
}

}  // namespace

bool is_exact_match(const std::string& generated, const std::string& answer,
                    const HarnessTask::ExactMatch& options, const std::string& origin) {
  const auto compared = [&](std::string text) {
    for (const std::string& pattern : options.regexes_to_ignore)
      text = without_matches(text, HfRegex(pattern, origin));
    if (options.ignore_case) text = text::lower(text);
    std::erase_if(text, [&](char c) {
      return (options.ignore_punctuation && kPunctuation.find(c) != std::string_view::npos) ||
             (options.ignore_numbers && c >= '0' && c <= '9');
    });
    return text;
  };
  return compared(generated) == compared(answer);
}

}  // namespace ingot
