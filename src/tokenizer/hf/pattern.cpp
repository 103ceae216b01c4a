#include "tokenizer/hf/pattern.h"

#include <array>

#include "core/error/error.h"
#include "core/text/utf8.h"
#include "tokenizer/hf/json_fields.h"

namespace ingot {

HfPattern::HfPattern(const Json& pattern, std::string_view what, std::string_view origin) {
  const Json& regex = member(pattern, "Regex");
  is_string_ = member(pattern, "String").is_string();
  check(is_string_ != regex.is_string(), ErrorCode::Data,
        "{}: {}: expected a pattern {{\"String\": …}} or {{\"Regex\": …}}, got {}", origin, what,
        pattern.dump());
  if (is_string_) {
    string_ = text_of(pattern, "String");
    return;
  }
  split_ = split_of_pattern(regex.get_ref<const std::string&>());
  if (!split_) {
    regex_ = std::make_shared<const HfRegex>(regex.get_ref<const std::string&>(),
                                             fmt::format("{}: {}", origin, what));
  }
}

void HfPattern::for_each_match(std::string_view text, const HfRegex::Visit& visit) const {
  if (regex_) return regex_->for_each_match(text, visit);
  if (split_) {
    std::array<uint32_t, 1024> ends;
    for (size_t begin = 0; begin < text.size();) {
      const std::string_view rest = text.substr(begin, UINT32_MAX);
      const size_t count = split_some(*split_, rest, ends);
      for (size_t i = 0; i < count; ++i) {
        visit({begin + (i == 0 ? 0 : ends[i - 1]), begin + ends[i]});
      }
      begin += ends[count - 1];
    }
    return;
  }
  for (size_t from = 0; from <= text.size();) {
    const size_t found = text.find(string_, from);
    if (found == std::string_view::npos) break;
    visit({found, found + string_.size()});
    from = found + string_.size();
    // An empty string is found before each character, and at the end.
    if (string_.empty()) from += from < text.size() ? text::character_bytes(text[from]) : 1;
  }
}

std::string HfPattern::replace(std::string& text, std::string_view content) const {
  std::string out, first;
  size_t copied = 0;
  for_each_match(text, [&](const RegexMatch& match) {
    out.append(text, copied, match.begin - copied) += content;
    copied = match.end;
    if (match.begin == 0) first = text.substr(0, match.end);
  });
  text = out.append(text, copied);
  return first;
}

}  // namespace ingot
