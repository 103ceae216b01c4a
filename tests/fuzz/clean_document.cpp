// Cleaning on arbitrary bytes: no document makes it fail, what is kept is UTF-8, and cleaning does
// not depend on what the worker saw before. Input: one byte that chooses preset, splitter and
// switches, then the text.
#include <array>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>

#include "core/text/utf8.h"
#include "ingest/clean/cleaner.h"
#include "ingest/clean/filters/bad_words.h"
#include "ingest/clean/filters/c4.h"
#include "ingest/clean/filters/fineweb.h"
#include "ingest/clean/filters/gopher_quality.h"
#include "ingest/clean/filters/gopher_repetition.h"
#include "ingest/clean/filters/language.h"
#include "ingest/clean/filters/length.h"
#include "ingest/clean/filters/url.h"
#include "ingest/text/normalize.h"

namespace {

using namespace ingot;

const Cleaner& cleaner_for(uint8_t choice) {
  static std::array<std::unique_ptr<Cleaner>, 64> cleaners;
  auto& cleaner = cleaners[choice % cleaners.size()];
  if (cleaner != nullptr) return *cleaner;
  CleanSettings settings = clean_preset(kCleanPresets[choice & 1]);
  settings.splitter = kSplitterNames[choice >> 1 & 3];
  settings.of<LanguageSettings>().enabled = settings.of<UrlSettings>().enabled =
      settings.of<BadWordsSettings>().enabled = true;
  settings.of<LanguageSettings>().languages = {"Latn"};  // what is known without a model
  if ((choice & 8) != 0) {                               // no filter hides the text from the next
    settings.of<LanguageSettings>().enabled = false;
    auto& repetition = settings.of<GopherRepetitionSettings>();
    repetition.max_dup_paragraphs = repetition.max_dup_paragraph_chars = 1;
    repetition.max_dup_lines = repetition.max_dup_line_chars = 1;
    repetition.lines_by_splitlines = true;
    repetition.top_n_grams = {{1, 1}, {2, 1}, {9, 1}};
    repetition.dup_n_grams = {{1, 1}, {3, 1}, {10, 1}};
    auto& quality = settings.of<GopherQualitySettings>();
    quality.min_words = quality.max_words = quality.min_stop_words = 0;
    quality.min_mean_word_chars = quality.max_mean_word_chars = quality.min_alpha_words = 0;
    quality.max_symbols_per_word = quality.max_bullet_lines = quality.max_ellipsis_lines = 1;
    quality.stop_words.clear();
    settings.of<C4Settings>().min_sentences = (choice & 16) != 0 ? -1 : 1;
    auto& fineweb = settings.of<FinewebSettings>();
    fineweb.min_terminal_lines = 0;
    fineweb.exempts_no_terminal_lines = true;
    fineweb.max_short_lines = fineweb.max_dup_line_chars = 1;
    fineweb.short_line_chars = 3;
    fineweb.max_newlines_per_word = 1000;
  }
  settings.of<C4Settings>().by_sentence = (choice & 32) != 0;
  settings.of<LengthSettings>().enabled = true;
  settings.of<LengthSettings>().max_chars = 1000;
  const auto storage = memory_storage();
  storage->make_directories("lists");
  const auto put = [&](const std::string& name, std::string_view contents) {
    write_file_atomically(*storage, "lists/" + name, contents);
    return "lists/" + name;
  };
  settings.punkt = "lists";
  put("abbrev_types.txt", "mr\ne.g\n");
  put("collocations.tab", "no\t##number##\n");
  put("sent_starters.txt", "the\n");
  put("ortho_context.tab", "the\t46\nof\t32\n");
  settings.of<BadWordsSettings>().list = put("bad_words", "bad word\nсм\n");
  auto& url = settings.of<UrlSettings>();
  url.domains = put("domains", "a.com\n");
  url.urls = put("urls", "http://b.com/\n");
  url.words = put("words", "word\n");
  url.soft_words = put("soft_words", "soft\nwords\n");
  url.subwords = put("subwords", "sub\n");
  url.public_suffixes = put("public_suffixes", "com\n*.ck\n!www.ck\n");
  cleaner = std::make_unique<Cleaner>(settings, *storage);
  return *cleaner;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const Cleaner& cleaner = cleaner_for(data[0]);
  Document first{"id", "fuzz", text, text.substr(0, text.find('\n')), ""}, second = first;
  CleanWorker worker(cleaner);
  Document other{"other", "fuzz", "Of the bad word, e.g. \"here\". " + text, "", ""};
  const Verdict alone = worker.clean(first);
  CleanWorker warm(cleaner);
  warm.clean(other);
  const Verdict after = warm.clean(second);
  if (alone.reason != after.reason || alone.lines != after.lines || first.text != second.text)
    abort();
  if (alone.kept() ? valid_utf8_prefix(first.text) != first.text.size() : first.text != text)
    abort();
  if (valid_utf8_prefix(text) == text.size()) {
    for (const auto form : {text::NormalForm::Datatrove010, text::NormalForm::FinewebV1,
                            text::NormalForm::Datatrove02}) {
      std::string normal;
      text::normalize(form, text, normal);
      if (valid_utf8_prefix(normal) != normal.size()) abort();
    }
  }
  return 0;
}
