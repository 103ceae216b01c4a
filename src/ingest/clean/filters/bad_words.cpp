#include "ingest/clean/filters/bad_words.h"

#include <xxhash.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/error/error.h"
#include "core/text/python_text.h"
#include "core/text/unicode.h"
#include "core/text/utf8.h"

namespace ingot {
namespace {

constexpr std::string_view kAllowed[] = {"sm", "グロ", "女の子", "性"};

std::vector<std::string> read_list(std::string_view list) {
  std::vector<std::string> words;
  std::string_view line;
  while (text::next_line(list, line)) {
    line = text::strip(line);
    if (!line.empty() &&
        std::find(std::begin(kAllowed), std::end(kAllowed), line) == std::end(kAllowed)) {
      words.emplace_back(line);
    }
  }
  return words;
}

bool is_word_character(const char* p) {
  return text::has(text::decode(p), text::kWordCharacter);
}

// (?:\W|^) before and (?:\W|$) behind
bool stands_alone(std::string_view text, size_t begin, size_t end) {
  if (begin != 0 && is_word_character(text::previous_character(text.data() + begin))) return false;
  return end == text.size() || !is_word_character(text.data() + end);
}

}  // namespace

BadWords::BadWords(const BadWordsSettings& settings, std::string_view list)
    : settings_(settings), words_(read_list(list)) {}

std::string_view BadWords::filter(std::string_view id, std::string_view text,
                                  std::string& lowered) const {
  lowered.clear();
  text::append_lower(lowered, text);
  const bool found = words_.find(lowered, [&](size_t begin, size_t end) {
    return !settings_.whole_words || stands_alone(lowered, begin, end);
  });
  if (!found) return {};
  const double draw =
      std::ldexp(static_cast<double>(XXH64(id.data(), id.size(), settings_.seed) >> 11), -53);
  return draw < settings_.keep_fraction ? std::string_view() : "document_removed_with_badwords";
}

std::string_view BadWords::judge(Passage& passage) const {
  return filter(passage.document.id, passage.text(), passage.scratch.lowered);
}

std::unique_ptr<Filter> BadWordsSettings::make(CleanFiles& files) const {
  const std::string words = files.read_list(list);
  check(!words.empty(), ErrorCode::Config,
        "bad_words.enabled: expected a list of words, got none: name a file in bad_words.list");
  return std::make_unique<BadWords>(*this, words);
}

std::unique_ptr<FilterSettings> filter_bad_words() {
  return std::make_unique<BadWordsSettings>();
}

}  // namespace ingot
