#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "core/error/error.h"
#include "core/text/unicode.h"
#include "core/text/utf8.h"
#include "ingest/clean/language/language.h"

namespace ingot {
namespace {

constexpr std::string_view kJapanese = "Jpan";
// Text with this share of kana among kana and Han is Japanese; prose has more than half.
constexpr double kMinKana = 0.05;

// Scripts of languages by their ISO 639-1 codes.
constexpr struct {
  std::string_view script, languages;
} kLanguages[] = {
    {"Latn",
     "af sq az eu bs br ca ceb co hr cs da nl en eo et fo fi fr fy ga gd gl de ha ht hu id ig is "
     "it jv ku la "
     "lb lt lv mg mi ms mt nb nl nn no oc pl pt ro sk sl so sq st su sv sw tk tl tr uz vi wa wo cy "
     "xh yo zu"},
    {"Cyrl", "be bg kk ky mk mn ru sr tg tt uk ba cv os ce"},
    {"Arab", "ar fa ur ps sd ug ckb"},
    {"Deva", "hi mr ne sa"},
    {"Beng", "bn as"},
    {"Hebr", "he yi"},
    {"Grek", "el"},
    {"Armn", "hy"},
    {"Geor", "ka"},
    {"Guru", "pa"},
    {"Gujr", "gu"},
    {"Orya", "or"},
    {"Taml", "ta"},
    {"Telu", "te"},
    {"Knda", "kn"},
    {"Mlym", "ml"},
    {"Sinh", "si"},
    {"Thai", "th"},
    {"Laoo", "lo"},
    {"Tibt", "bo dz"},
    {"Mymr", "my"},
    {"Ethi", "am ti"},
    {"Khmr", "km"},
    {"Hang", "ko"},
    {"Hani", "zh yue wuu"},
    {"Jpan", "ja"},
};

bool has_word(std::string_view words, std::string_view word) {
  for (size_t at = words.find(word); at != std::string_view::npos; at = words.find(word, at + 1)) {
    const size_t end = at + word.size();
    if ((at == 0 || words[at - 1] == ' ') && (end == words.size() || words[end] == ' '))
      return true;
  }
  return false;
}

// Loops of fixed length, which the compiler turns into vector code.
constexpr std::ptrdiff_t kBlock = 32;

bool is_ascii(const char* p) {
  unsigned char any = 0;
  for (int i = 0; i < kBlock; ++i) any |= static_cast<unsigned char>(p[i]);
  return any < 0x80;
}

size_t num_ascii_letters(const char* p) {
  uint8_t count = 0;
  for (int i = 0; i < kBlock; ++i) {
    count = static_cast<uint8_t>(count + (static_cast<uint8_t>((p[i] | 0x20) - 'a') < 26));
  }
  return count;
}

class ScriptDetector final : public LanguageDetector {
 public:
  ScriptDetector() {
    for (const std::string_view name : text::script_names()) labels_.emplace_back(name);
    labels_.emplace_back(kJapanese);
    latin_ = index_of("Latn"), han_ = index_of("Hani"), hiragana_ = index_of("Hira"),
    katakana_ = index_of("Kana");
  }

  const std::vector<std::string>& labels() const override { return labels_; }

  void score(std::string_view text, std::vector<float>& scores) const override {
    std::vector<size_t> counts(labels_.size());
    for (const char *p = text.data(), *end = p + text.size(); p != end;) {
      for (; end - p >= kBlock && is_ascii(p); p += kBlock) counts[latin_] += num_ascii_letters(p);
      if (p == end) break;
      const char32_t code = text::next_character(p);
      if (text::has(code, text::kAlpha)) ++counts[text::script_of(code)];
    }
    const size_t kana = counts[hiragana_] + counts[katakana_], all = kana + counts[han_];
    if (kana != 0 && static_cast<double>(kana) >= kMinKana * static_cast<double>(all)) {
      counts.back() = all;
      counts[hiragana_] = counts[katakana_] = counts[han_] = 0;
    }
    const size_t letters = std::accumulate(counts.begin(), counts.end(), size_t{0});
    scores.assign(labels_.size(), 0);
    for (size_t i = 0; i < counts.size() && letters != 0; ++i) {
      scores[i] = static_cast<float>(static_cast<double>(counts[i]) / static_cast<double>(letters));
    }
  }

  size_t label_of(std::string_view language) const override {
    const size_t index = index_of(language);
    if (index < labels_.size()) return index;
    for (const auto& [script, languages] : kLanguages) {
      if (!has_word(languages, language)) continue;
      // Chinese is what the others of its script are kinds of.
      if (languages == language || language == "zh") return index_of(script);
      throw Error(
          ErrorCode::Config,
          fmt::format("clean.language.languages: «{}»: without a model only scripts are told "
                      "apart, and {} is also that of other languages: set language.model to "
                      "fastText's lid.176.bin, or ask for {} and keep them all",
                      language, script, script));
    }
    throw Error(ErrorCode::Config,
                fmt::format("clean.language.languages: expected languages of one script or labels "
                            "among {}, got «{}»; for others set language.model to fastText's "
                            "lid.176.bin",
                            fmt::join(labels_, " "), language));
  }

 private:
  size_t index_of(std::string_view label) const {
    return static_cast<size_t>(std::find(labels_.begin(), labels_.end(), label) - labels_.begin());
  }

  std::vector<std::string> labels_;
  size_t latin_, han_, hiragana_, katakana_;
};

}  // namespace

std::unique_ptr<const LanguageDetector> make_script_detector() {
  return std::make_unique<ScriptDetector>();
}

}  // namespace ingot
