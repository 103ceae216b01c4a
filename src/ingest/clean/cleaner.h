// Decides which documents stay, and rewrites those that do.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "ingest/clean/filters/bad_words.h"
#include "ingest/clean/filters/filters.h"
#include "ingest/clean/filters/pii.h"
#include "ingest/clean/filters/url_filter.h"
#include "ingest/clean/language/language.h"
#include "ingest/clean/settings.h"
#include "ingest/document.h"

namespace ingot {

// What settings name but do not hold: contents of files that the caller has read.
struct CleanResources {
  UrlLists urls;
  std::string bad_words;
  std::optional<PunktFiles> punkt;                   // the splitter nltk-en needs it
  std::shared_ptr<const LanguageDetector> language;  // null: the built-in script detector
};

// The parts of cleaning, built once; immutable, so any number of workers share it.
class Cleaner {
 public:
  // Throws Config for settings that do not fit, Data for resources that cannot be read.
  explicit Cleaner(CleanSettings settings, CleanResources resources = {});

  const CleanSettings& settings() const { return settings_; }

 private:
  friend class CleanWorker;

  CleanSettings settings_;
  std::unique_ptr<const Splitter> splitter_;
  std::shared_ptr<const LanguageDetector> language_;
  std::vector<size_t> requested_labels_;
  std::optional<UrlFilter> url_filter_;
  std::optional<BadWords> bad_words_;
};

// Both views are static. `step` is the settings' name of the filter, or "input" for documents that
// no filter gets to see: empty, invalid_utf8, too_large.
struct Verdict {
  std::string_view step = {}, reason = {};  // empty: kept
  C4LineCounts lines{};                     // what C4 saw of this document

  bool kept() const { return reason.empty(); }
};

// Sums, so merging them in any order gives the same.
struct CleanCounts {
  int64_t documents = 0, kept = 0;
  int64_t bytes_in = 0, bytes_kept = 0;
  int64_t without_url = 0;                 // passed the URL filter for lack of one
  std::map<std::string, int64_t> removed;  // by "step reason"
  C4LineCounts lines{};
  PiiCounts pii;

  CleanCounts& operator+=(const CleanCounts& other);
};

// Cleans documents one after another; one worker a thread.
class CleanWorker {
 public:
  explicit CleanWorker(const Cleaner& cleaner) : cleaner_(cleaner) {}  // which must outlive it

  // Where the document is kept, its text is what the filters made of it, and its language is set if
  // it was determined. Where it is removed, its text is as it was. The outcome depends on the
  // document and the settings alone.
  Verdict clean(Document& document);

  const CleanCounts& counts() const { return counts_; }

 private:
  Verdict judge(Document& document);
  std::string_view judge_language(Document& document);

  const Cleaner& cleaner_;
  CleanScratch scratch_;
  std::vector<float> scores_;
  CleanCounts counts_;
};

}  // namespace ingot
