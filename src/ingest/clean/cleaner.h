// Decides which documents are kept, and rewrites them.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "ingest/clean/settings.h"

namespace ingot {

// The filters of cleaning, built once. Immutable, so any number of workers share it.
class Cleaner {
 public:
  // Reads the files named by the settings of enabled filters. Throws Config for settings that
  // contradict each other, Data for files that cannot be read.
  Cleaner(CleanSettings settings, Storage& storage);

  const CleanSettings& settings() const { return settings_; }
  uint64_t files_hash() const { return files_hash_; }  // of all files read

 private:
  friend class CleanWorker;

  CleanSettings settings_;
  std::unique_ptr<const Splitter> splitter_;
  std::vector<std::pair<std::string_view, std::unique_ptr<const Filter>>> filters_;  // with names
  uint64_t files_hash_ = 0;
};

// Both views are static. `step` is the settings' name of the filter, or "input" for documents
// rejected before the filters: empty, invalid_utf8, too_large.
struct Verdict {
  std::string_view step = {}, reason = {};  // empty: kept
  C4LineCounts lines{};                     // C4's line counts of this document

  bool kept() const { return reason.empty(); }
};

// Cleans documents one after another; one worker per thread.
class CleanWorker {
 public:
  explicit CleanWorker(const Cleaner& cleaner) : cleaner_(cleaner) {}  // cleaner must outlive it

  // If the document is kept, its text is the filters' output, and its language is set if it was
  // detected. If it is removed, its text is unchanged. The outcome depends only on the document and
  // the settings.
  Verdict clean(Document& document);

  const CleanCounts& counts() const { return counts_; }

 private:
  Verdict judge(Document& document);

  const Cleaner& cleaner_;
  CleanScratch scratch_;
  CleanCounts counts_;
};

}  // namespace ingot
