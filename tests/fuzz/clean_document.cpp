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
#include "ingest/text/normalize.h"

namespace {

using namespace ingot;

const Cleaner& cleaner_for(uint8_t choice) {
  static std::array<std::unique_ptr<Cleaner>, 64> cleaners;
  auto& cleaner = cleaners[choice % cleaners.size()];
  if (cleaner != nullptr) return *cleaner;
  CleanSettings settings = clean_preset(kCleanPresets[choice & 1]);
  settings.splitter = kSplitterNames[choice >> 1 & 3];
  settings.language.enabled = settings.url.enabled = settings.bad_words.enabled = true;
  if ((choice & 8) != 0) {  // no filter hides the text from the next
    settings.language.enabled = false;
    settings.gopher_repetition = {
        true, 1, 1, 1, 1, true, {{1, 1}, {2, 1}, {9, 1}}, {{1, 1}, {3, 1}, {10, 1}}};
    settings.gopher_quality = {true, 0, 0, 0, 0, 1, 1, 1, 0, 0, {}};
    settings.c4.min_sentences = (choice & 16) != 0 ? -1 : 1;
    settings.fineweb = {true, 0, true, 1, 3, 1, 1000};
  }
  settings.c4.by_sentence = (choice & 32) != 0;
  settings.length.enabled = true;
  CleanResources resources;
  resources.punkt = PunktFiles{"mr\ne.g\n", "no\t##number##\n", "the\n", "the\t46\nof\t32\n"};
  resources.bad_words = "bad word\nсм\n";
  resources.urls = {"a.com\n",       "http://b.com/\n", "word\n",
                    "soft\nwords\n", "sub\n",           "com\n*.ck\n!www.ck\n"};
  cleaner = std::make_unique<Cleaner>(settings, resources);
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
