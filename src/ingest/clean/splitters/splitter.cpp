#include "ingest/clean/splitters/splitter.h"

#include <fmt/ranges.h>

#include "core/error/error.h"
#include "core/text/python_text.h"
#include "ingest/clean/splitters/split_by_script.h"
#include "ingest/clean/splitters/split_nltk.h"
#include "ingest/clean/splitters/split_spacy.h"
#include "ingest/clean/splitters/split_uax29.h"
#include "ingest/clean/splitters/split_whitespace.h"

namespace ingot {

void WordList::add(std::string_view word) {
  words.push_back(
      {word.data(), static_cast<uint32_t>(word.size()), static_cast<uint32_t>(text::length(word))});
}

std::unique_ptr<const Splitter> make_splitter(std::string_view name, const PunktFiles* punkt) {
  if (name == "auto") return std::make_unique<ScriptSplitter>();
  if (name == "whitespace") return std::make_unique<WhitespaceSplitter>();
  if (name == "uax29") return std::make_unique<Uax29Splitter>();
  if (name == "spacy-en") return std::make_unique<SpacySplitter>();
  if (name == "nltk-en") {
    check(punkt != nullptr, ErrorCode::Config,
          "splitter nltk-en needs what NLTK's Punkt learnt, which Ingot does not bring: give the "
          "folder "
          "tokenizers/punkt_tab/english of nltk_data, or choose spacy-en");
    return std::make_unique<NltkSplitter>(*punkt);
  }
  throw Error(ErrorCode::Config, fmt::format("splitter: expected one of {}, got «{}»",
                                             fmt::join(kSplitterNames, ", "), name));
}

}  // namespace ingot
