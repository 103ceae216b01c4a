#include "ingest/clean/filters/gopher_repetition.h"

#include <fmt/ranges.h>
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <numeric>

#include "core/error/error.h"
#include "core/text/python_text.h"
#include "ingest/clean/filters/duplicates.h"

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

// How many bytes of an n-gram are its head, for find_repeated_heads: of the 5-grams of an English
// novel 2 % are shorter than that, and of its words 6 % have a head that occurs twice in 4 KB; with
// two bytes less or more there are more of either.
size_t head_bytes(size_t n) {
  return std::clamp(3 * n - std::min<size_t>(n, 5), NGrams::kMinHeadBytes, NGrams::kMaxHeadBytes);
}

// Leaves those of scratch.repeated, which are words in order, at which a repeated n-gram may begin,
// n being `least` or more. Equal n-grams that are no shorter than a head have equal heads, and only
// a few heads occur twice, or share a mark with another.
void keep_repeated_heads(const NGrams& n_grams, size_t least, CleanScratch& scratch) {
  std::vector<uint32_t>& words = scratch.repeated;
  while (!words.empty() && words.back() + least > n_grams.num_words()) words.pop_back();
  const size_t num_bytes = head_bytes(least), slots = std::bit_ceil(16 * words.size() + 2);
  const int shift = 64 - std::countr_zero(slots);
  scratch.marks.assign(slots, 0);
  scratch.slots.resize(words.size());
  for (size_t k = 0; k < words.size(); ++k) {
    const auto slot = static_cast<uint32_t>(n_grams.head_hash(words[k], num_bytes) >> shift);
    scratch.slots[k] = slot;
    scratch.marks[slot] = static_cast<uint8_t>((scratch.marks[slot] << 1 | 1) & 3);  // 3: twice
  }
  size_t kept = 0;
  for (size_t k = 0; k < words.size(); ++k) {
    const bool stays =
        scratch.marks[scratch.slots[k]] == 3 || n_grams.bytes(words[k], least) < num_bytes;
    words[kept] = words[k];
    kept += stays;
  }
  words.resize(kept);
}

std::string_view dup_n_grams(const std::vector<NGramLimit>& limits, const NGrams& n_grams,
                             size_t text_chars, CleanScratch& scratch) {
  scratch.repeated.resize(n_grams.num_words());
  std::iota(scratch.repeated.begin(), scratch.repeated.end(), 0);
  for (const auto& limit : limits) {  // n grows
    const auto n = static_cast<size_t>(limit.n);
    keep_repeated_heads(n_grams, n, scratch);
    scratch.seen.reset(scratch.repeated.size());
    size_t repeated_chars = 0, next = 0;
    for (const uint32_t i : scratch.repeated) {
      if (i < next) continue;  // within an n-gram that was found repeated
      const std::string_view bytes = n_grams.concatenation(i, n);
      if (scratch.seen.insert(XXH3_64bits(bytes.data(), bytes.size()))) continue;
      repeated_chars += n_grams.chars(i, n);
      next = i + n;
    }
    if (exceeds(repeated_chars, text_chars, limit.max_share)) return kDupReasons[n];
  }
  return {};
}

NGramLimit parse_limit(const std::string& name, std::string_view text) {
  NGramLimit limit{};
  const char* end = text.data() + text.size();
  const auto n = std::from_chars(text.data(), end, limit.n);
  const bool has_share = n.ec == std::errc() && n.ptr != end && *n.ptr == ':';
  const auto share = has_share ? std::from_chars(n.ptr + 1, end, limit.max_share)
                               : std::from_chars_result{end, std::errc::invalid_argument};
  check(share.ec == std::errc() && share.ptr == end, ErrorCode::Config,
        "{}: expected N:SHARE such as 5:0.15, got «{}»", name, text);
  return limit;
}

Setting n_gram_setting(const std::string& name, std::vector<NGramLimit>& field, std::string doc) {
  return converted_setting(
      name, std::move(doc),
      [&field] {
        std::vector<std::string> parts;
        for (const auto& [n, share] : field) parts.push_back(fmt::format("{}:{}", n, share));
        return fmt::format("{}", fmt::join(parts, " "));
      },
      [&field, name](std::string_view text) {
        field.clear();
        for (std::string_view word; text::next_word(text, word);) {
          field.push_back(parse_limit(name, word));
        }
      });
}

void expect_n_grams(const std::string& name, const std::vector<NGramLimit>& limits) {
  check(std::is_sorted(limits.begin(), limits.end(), [](auto a, auto b) { return a.n < b.n; }),
        ErrorCode::Config, "clean.{}: expected them in order of n", name);
  for (const auto [n, max_share] : limits) {
    check(n >= 1 && n <= kMaxNGram, ErrorCode::Config, "clean.{}: expected n from 1 to {}, got {}",
          name, kMaxNGram, n);
    check(max_share >= 0 && max_share <= 1, ErrorCode::Config, "clean.{}: expected 0 to 1, got {}",
          name, max_share);
  }
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

std::vector<Setting> GopherRepetitionSettings::declare() {
  std::vector<Setting> rows = DeclaredFilter::declare();
  rows.push_back(
      n_gram_setting(key("top_n_grams"), top_n_grams, "share of the most frequent n-gram"));
  rows.push_back(n_gram_setting(key("dup_n_grams"), dup_n_grams, "share of repeated n-grams"));
  return rows;
}

void GopherRepetitionSettings::validate() const {
  expect_n_grams(key("top_n_grams"), top_n_grams);
  expect_n_grams(key("dup_n_grams"), dup_n_grams);
}

std::unique_ptr<Filter> GopherRepetitionSettings::make(CleanFiles&) const {
  return filter_of(*this, [](const GopherRepetitionSettings& s, Passage& passage) {
    return gopher_repetition(s, passage.text(), passage.words(), passage.scratch);
  });
}

std::unique_ptr<FilterSettings> filter_gopher_repetition() {
  return std::make_unique<GopherRepetitionSettings>();
}

}  // namespace ingot
