// Counts of cleaning besides the removed documents.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace ingot {

// The outcome of a document's lines under C4.
enum class C4Line { Total, TooLongWord, NoTerminalMark, TooFewWords, Javascript, Policy, Kept };
inline constexpr std::array<std::string_view, 7> kC4LineNames{"line-total",
                                                              "line-filter-too_long_word",
                                                              "line-filter-no_terminal_punc",
                                                              "line-filter-too_few_words",
                                                              "line-filter-javascript",
                                                              "line-filter-policy",
                                                              "line-kept"};
using C4LineCounts = std::array<int64_t, kC4LineNames.size()>;

struct PiiCounts {
  int64_t emails = 0, ips = 0;
};

// Sums: merging them in any order gives the same result.
struct CleanCounts {
  int64_t documents = 0, kept = 0;
  int64_t bytes_in = 0, bytes_kept = 0;
  int64_t without_url = 0;                 // passed the URL filter without a URL
  std::map<std::string, int64_t> removed;  // by "step reason"
  C4LineCounts lines{};
  PiiCounts pii;

  CleanCounts& operator+=(const CleanCounts& other);
};

}  // namespace ingot
