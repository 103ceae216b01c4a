// Decides which documents stay, and rewrites those that do.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "ingest/clean/settings.h"

namespace ingot {

// The parts of cleaning, built once; immutable, so any number of workers share it.
class Cleaner {
 public:
  // Reads the files that the settings name, of filters that are enabled. Throws Config for settings
  // that do not fit, Data for files that cannot be read.
  Cleaner(CleanSettings settings, Storage& storage);

  const CleanSettings& settings() const { return settings_; }
  uint64_t files_hash() const { return files_hash_; }  // of all that was read

 private:
  friend class CleanWorker;

  CleanSettings settings_;
  std::unique_ptr<const Splitter> splitter_;
  std::vector<std::pair<std::string_view, std::unique_ptr<const Filter>>> filters_;  // with steps
  uint64_t files_hash_ = 0;
};

// Both views are static. `step` is the settings' name of the filter, or "input" for documents that
// no filter gets to see: empty, invalid_utf8, too_large.
struct Verdict {
  std::string_view step = {}, reason = {};  // empty: kept
  C4LineCounts lines{};                     // what C4 saw of this document

  bool kept() const { return reason.empty(); }
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

  const Cleaner& cleaner_;
  CleanScratch scratch_;
  CleanCounts counts_;
};

}  // namespace ingot
