// The tokens of a run, counted in three ways.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>

#include "feed/sample_stream.h"

namespace ingot {

struct TokenCounts {
  int64_t trained = 0;  // positions with a target; a token counts each time it is trained on
  int64_t padded = 0;   // positions without a target: padding, ends of documents
  int64_t unique = 0;   // trained tokens, each sample counted at its first use only
  bool operator==(const TokenCounts&) const = default;

  int64_t positions() const { return trained + padded; }
  TokenCounts& operator+=(const TokenCounts& more) {
    trained += more.trained;
    padded += more.padded;
    unique += more.unique;
    return *this;
  }
};

// {"trained_tokens": …, "padded_tokens": …, "unique_tokens": …}: the keys in every JSON result.
nlohmann::json to_json(const TokenCounts& counts);
// Into the record of a start or of a step.
template <class Report>
void put(const TokenCounts& counts, Report& report) {
  report.trained_tokens = counts.trained;
  report.padded_tokens = counts.padded;
  report.unique_tokens = counts.unique;
}
// Nothing if an older program, which did not count them, wrote the record.
template <class Report>
std::optional<TokenCounts> counts_in(const Report& report) {
  if (!report.trained_tokens || !report.padded_tokens || !report.unique_tokens) return std::nullopt;
  return TokenCounts{*report.trained_tokens, *report.padded_tokens, *report.unique_tokens};
}
std::string text_of(const TokenCounts& counts);     // "1,234 trained, 56 padded, 1,000 unique"
std::string short_text(const TokenCounts& counts);  // "1.23k, 56 padded, 1.00k unique"

// Counts the samples at positions [begin, end): in constant time if every position has a target and
// no two parts have the same samples, else sample by sample.
TokenCounts count_tokens(const SampleStream& stream, int64_t begin, int64_t end);

}  // namespace ingot
