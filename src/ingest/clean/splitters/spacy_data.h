// Tables of spaCy's rule-based English tokenizer, made by tools/make_spacy_tables.py.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "core/text/code_point_map.h"

namespace ingot {

// Bits of spacy_class(), named after the lists in spaCy's char_classes.py, in the order of the
// tool.
enum SpacyClass : uint16_t {
  kSpacyAlpha = 1 << 0,
  kSpacyLower = 1 << 1,
  kSpacyUpper = 1 << 2,
  kSpacyIcon = 1 << 3,
  kSpacyQuote = 1 << 4,
  kSpacyBeforeFinalDot = 1 << 5,
  kSpacyPrefix = 1 << 6,  // a one-character prefix
  kSpacySuffix = 1 << 7,
  kSpacyCurrency = 1 << 8,
  kSpacyHost = 1 << 9,  // a letter of a host name in a URL
};

const text::CodePointMap<uint16_t>& spacy_classes();
inline uint16_t spacy_class(char32_t code) {
  static const text::CodePointMap<uint16_t>& map = spacy_classes();
  return map[code];
}

std::span<const std::string_view> spacy_units();
// Each exception as its pieces, and each token sequence for the last pass, separated by tabs.
std::span<const std::string_view> spacy_exception_pieces();
std::span<const std::string_view> spacy_exception_sequences();

}  // namespace ingot
