#include "ingest/clean/splitters/spacy_data.h"

namespace ingot {
namespace {

#include "ingest/clean/splitters/spacy_data.inc"

}  // namespace

const text::CodePointMap<uint16_t>& spacy_classes() {
  static const text::CodePointMap<uint16_t> map(kClassRuns);
  return map;
}

std::span<const std::string_view> spacy_units() {
  return kUnits;
}

std::span<const std::string_view> spacy_exception_pieces() {
  return kExceptions;
}

std::span<const std::string_view> spacy_exception_sequences() {
  return kSequences;
}

}  // namespace ingot
