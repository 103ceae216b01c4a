// The tokens of a run, in the three numbers that say different things.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>

#include "feed/sample_stream.h"

namespace ingot {

struct TokenCounts {
  int64_t trained = 0;  // with a target: they made the loss, each as often as it did
  int64_t padded = 0;   // positions that were computed without one: padding, ends of documents
  int64_t unique = 0;   // of the trained ones, those of each sample's first use: distinct tokens
  bool operator==(const TokenCounts&) const = default;

  int64_t positions() const { return trained + padded; }
  TokenCounts& operator+=(const TokenCounts& more) {
    trained += more.trained;
    padded += more.padded;
    unique += more.unique;
    return *this;
  }
};

// {"trained_tokens": …, "padded_tokens": …, "unique_tokens": …}, by which every result tells them.
nlohmann::json to_json(const TokenCounts& counts);
// As a record of a run has them: one of a start or of a step.
template <class Report>
void put(const TokenCounts& counts, Report& report) {
  report.trained_tokens = counts.trained;
  report.padded_tokens = counts.padded;
  report.unique_tokens = counts.unique;
}
// Nothing where the record is of a program that did not tell.
template <class Report>
std::optional<TokenCounts> counts_in(const Report& report) {
  if (!report.trained_tokens || !report.padded_tokens || !report.unique_tokens) return std::nullopt;
  return TokenCounts{*report.trained_tokens, *report.padded_tokens, *report.unique_tokens};
}
std::string text_of(const TokenCounts& counts);     // "1,234 trained, 56 padded, 1,000 unique"
std::string short_text(const TokenCounts& counts);  // "1.23k, 56 padded, 1.00k unique"

// Of the samples at positions [begin, end). At once where every position has a target and no two
// parts have the same samples, else a sample at a time.
TokenCounts count_tokens(const SampleStream& stream, int64_t begin, int64_t end);

}  // namespace ingot
