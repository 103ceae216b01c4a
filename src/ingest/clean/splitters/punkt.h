// NLTK's Punkt sentence splitter (Kiss and Strunk, 2006), as in NLTK 3.8.1, with parameters from
// its files.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "ingest/clean/splitters/splitter.h"

namespace ingot {

class Punkt {
 public:
  explicit Punkt(const PunktFiles& files);  // throws Data for invalid files

  struct Span {
    size_t begin, end;  // bytes
  };
  // The sentences in order, separated by whitespace only; overwrites `spans`.
  void sentences(std::string_view text, std::vector<Span>& spans) const;

 private:
  friend class PunktContext;

  // Bits of a word's orthographic context.
  enum : uint32_t { kMidUpper = 1 << 2, kUpper = 7 << 1, kBeginLower = 1 << 4, kLower = 7 << 4 };

  bool has_sentence_break(std::string_view context) const;

  std::unordered_set<std::string> abbreviations_, sentence_starters_;
  std::set<std::pair<std::string, std::string>> collocations_;
  std::unordered_map<std::string, uint32_t> contexts_;
};

}  // namespace ingot
