#include <xxhash.h>

#include <algorithm>
#include <array>
#include <bit>

#include "data/ingest/clean/duplicates.h"
#include "data/ingest/clean/filters.h"
#include "data/ingest/text/python_text.h"

namespace ingot {
namespace {

constexpr uint64_t kSpread = 0x9E3779B97F4A7C15u;

using Reasons = std::array<std::string_view, kMaxNGram + 1>;  // by n
constexpr Reasons kTopReasons{"",           "top_1_gram", "top_2_gram", "top_3_gram",
                              "top_4_gram", "top_5_gram", "top_6_gram", "top_7_gram",
                              "top_8_gram", "top_9_gram", "top_10_gram"};
constexpr Reasons kDupReasons{"",
                              "duplicated_1_n_grams",
                              "duplicated_2_n_grams",
                              "duplicated_3_n_grams",
                              "duplicated_4_n_grams",
                              "duplicated_5_n_grams",
                              "duplicated_6_n_grams",
                              "duplicated_7_n_grams",
                              "duplicated_8_n_grams",
                              "duplicated_9_n_grams",
                              "duplicated_10_n_grams"};

bool exceeds(size_t part, size_t whole, double limit) {
  return limit != 0 && static_cast<double>(part) / static_cast<double>(whole) > limit;
}

void split_lines(std::string_view text, std::vector<std::string_view>& lines) {
  std::string_view line;
  while (text::next_line(text, line)) lines.push_back(line);
}

// The exact rule: how many characters does the most frequent n-gram take?
size_t top_n_gram_chars(const NGrams& n_grams, size_t n, HashCounter& counter) {
  const size_t count = n_grams.num_words() - n + 1;
  counter.reset(count);
  for (size_t i = 0; i < count; ++i)
    counter.add(n_grams.sequence_hash(i, n), static_cast<uint32_t>(i));
  return (n_grams.chars(counter.top_first(), n) + n - 1) * counter.top_count();
}

// For each word at most how often the pair it begins occurs: pairs share counters. An n-gram is no
// more frequent than its first pair, so this nearly always shows that no limit is reached, at a
// fraction of the time that counting n-grams takes.
void bound_pair_counts(const NGrams& n_grams, CleanScratch& scratch) {
  const size_t count = n_grams.num_words() - 1;
  const size_t slots = std::bit_ceil(4 * count);
  const int shift = 64 - std::countr_zero(slots);
  scratch.counters.assign(slots, 0);
  scratch.slots.resize(count);
  for (size_t i = 0; i < count; ++i) {
    const auto slot = static_cast<uint32_t>(n_grams.sequence_hash(i, 2) * kSpread >> shift);
    scratch.slots[i] = slot;
    ++scratch.counters[slot];
  }
}

bool may_exceed(const NGrams& n_grams, size_t n, size_t text_chars, double limit,
                const CleanScratch& scratch) {
  size_t most = 0;
  for (size_t i = 0; i + n <= n_grams.num_words(); ++i) {
    most = std::max(most, (n_grams.chars(i, n) + n - 1) * scratch.counters[scratch.slots[i]]);
  }
  return exceeds(most, text_chars, limit);
}

std::string_view top_n_grams(const std::vector<NGramLimit>& limits, const NGrams& n_grams,
                             size_t text_chars, CleanScratch& scratch) {
  if (n_grams.num_words() > 1) bound_pair_counts(n_grams, scratch);
  for (const auto& limit : limits) {
    const auto n = static_cast<size_t>(limit.n);
    if (n_grams.num_words() < n) continue;
    if (n > 1 && !may_exceed(n_grams, n, text_chars, limit.max_share, scratch)) continue;
    if (exceeds(top_n_gram_chars(n_grams, n, scratch.counter), text_chars, limit.max_share)) {
      return kTopReasons[n];
    }
  }
  return {};
}

// Words at which a repeated n-gram may begin, n being `least` or more. Equal n-grams of at least
// kHeadBytes have equal heads, and only a few heads occur twice (or share a mark with another).
void find_repeated_heads(const NGrams& n_grams, size_t least, CleanScratch& scratch) {
  const size_t count = n_grams.num_words() - least + 1;
  const size_t slots = std::bit_ceil(16 * count);
  const int shift = 64 - std::countr_zero(slots);
  scratch.marks.assign(slots, 0);
  scratch.slots.resize(count);
  for (size_t i = 0; i < count; ++i) {
    const auto slot = static_cast<uint32_t>(n_grams.head_hash(i) >> shift);
    scratch.slots[i] = slot;
    scratch.marks[slot] = static_cast<uint8_t>((scratch.marks[slot] << 1 | 1) & 3);  // 3: twice
  }
  scratch.repeated.clear();
  for (size_t i = 0; i < count; ++i) {
    if (scratch.marks[scratch.slots[i]] == 3 || n_grams.bytes(i, least) < NGrams::kHeadBytes) {
      scratch.repeated.push_back(static_cast<uint32_t>(i));
    }
  }
}

std::string_view dup_n_grams(const std::vector<NGramLimit>& limits, const NGrams& n_grams,
                             size_t text_chars, CleanScratch& scratch) {
  if (limits.empty()) return {};
  const auto least = static_cast<size_t>(
      std::min_element(limits.begin(), limits.end(), [](auto a, auto b) { return a.n < b.n; })->n);
  if (n_grams.num_words() < least) return {};
  find_repeated_heads(n_grams, least, scratch);
  for (const auto& limit : limits) {
    const auto n = static_cast<size_t>(limit.n);
    scratch.seen.reset(scratch.repeated.size());
    size_t repeated_chars = 0, next = 0;
    for (const uint32_t i : scratch.repeated) {
      if (i < next) continue;  // within an n-gram that was found repeated
      if (i + n > n_grams.num_words()) break;
      const std::string_view bytes = n_grams.concatenation(i, n);
      if (scratch.seen.insert(XXH3_64bits(bytes.data(), bytes.size()))) continue;
      repeated_chars += n_grams.chars(i, n);
      next = i + n;
    }
    if (exceeds(repeated_chars, text_chars, limit.max_share)) return kDupReasons[n];
  }
  return {};
}

}  // namespace

std::string_view gopher_repetition(const GopherRepetitionSettings& settings, std::string_view text,
                                   const WordList& words, CleanScratch& scratch) {
  const size_t text_chars = text::length(text);

  std::vector<std::string_view>& pieces = scratch.lines;
  pieces.clear();
  split_at_newlines(text::strip(text), 2, pieces);
  Duplicates dup = find_duplicates(pieces, scratch.seen);
  if (exceeds(dup.count, pieces.size(), settings.max_dup_paragraphs)) return "dup_para_frac";
  if (exceeds(dup.chars, text_chars, settings.max_dup_paragraph_chars)) return "dup_para_char_frac";

  pieces.clear();
  if (settings.lines_by_splitlines) {
    split_lines(text, pieces);
  } else {
    split_at_newlines(text, 1, pieces);
  }
  dup = find_duplicates(pieces, scratch.seen);
  if (exceeds(dup.count, pieces.size(), settings.max_dup_lines)) return "dup_line_frac";
  if (exceeds(dup.chars, text_chars, settings.max_dup_line_chars)) return "dup_line_char_frac";

  scratch.n_grams.assign(words.words, words.rewritten.empty() ? text : words.rewritten);
  const auto reason = top_n_grams(settings.top_n_grams, scratch.n_grams, text_chars, scratch);
  if (!reason.empty()) return reason;
  return dup_n_grams(settings.dup_n_grams, scratch.n_grams, text_chars, scratch);
}

}  // namespace ingot
