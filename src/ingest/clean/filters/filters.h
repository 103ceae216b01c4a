// The document filters. Each gives the reason of the first rule that fires, or an empty view;
// reasons are those of datatrove, in static memory. Texts are valid UTF-8 and not empty.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ingest/clean/filters/hash_tables.h"
#include "ingest/clean/filters/n_grams.h"
#include "ingest/clean/settings.h"
#include "ingest/clean/splitters/splitter.h"

namespace ingot {

// What a worker keeps from document to document so that memory is not taken anew for each.
struct CleanScratch {
  WordList words;
  NGrams n_grams;
  HashSet seen;
  HashCounter counter;
  std::vector<uint32_t> counters, slots, repeated;  // gopher_repetition's
  std::vector<uint8_t> marks;
  std::vector<std::string_view> lines;
  std::vector<size_t> sentence_ends;
  std::string lowered, line, rewritten;
};

std::string_view length_rules(const LengthSettings& settings, std::string_view text);

// `words` are the splitter's of the text.
std::string_view gopher_repetition(const GopherRepetitionSettings& settings, std::string_view text,
                                   const WordList& words, CleanScratch& scratch);
std::string_view gopher_quality(const GopherQualitySettings& settings, CleanVersion version,
                                std::string_view text, const WordList& words);

// What became of a document's lines under C4.
enum class C4Line { Total, TooLongWord, NoTerminalMark, TooFewWords, Javascript, Policy, Kept };
inline constexpr std::array<std::string_view, 7> kC4LineNames{"line-total",
                                                              "line-filter-too_long_word",
                                                              "line-filter-no_terminal_punc",
                                                              "line-filter-too_few_words",
                                                              "line-filter-javascript",
                                                              "line-filter-policy",
                                                              "line-kept"};
using C4LineCounts = std::array<int64_t, kC4LineNames.size()>;

// Where it passes, scratch.rewritten is the text with the lines that were kept. Adds to `counts`.
std::string_view c4_quality(const C4Settings& settings, CleanVersion version, std::string_view text,
                            const Splitter& splitter, CleanScratch& scratch, C4LineCounts& counts);
std::string_view c4_paragraphs(const C4ParagraphSettings& settings, std::string_view text);

std::string_view fineweb_quality(const FinewebSettings& settings, CleanVersion version,
                                 std::string_view text, const Splitter& splitter,
                                 CleanScratch& scratch);

}  // namespace ingot
