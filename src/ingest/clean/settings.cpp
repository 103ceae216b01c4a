#include "ingest/clean/settings.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "core/error.h"

namespace ingot {
namespace {

void expect_share(std::string_view name, double value) {
  check(value >= 0 && value <= 1, ErrorCode::Config, "clean.{}: expected 0 to 1, got {}", name,
        value);
}

void expect_order(std::string_view name, double least, double most) {
  check(least >= 0 && (most == 0 || least <= most), ErrorCode::Config,
        "clean.{}: expected 0 ≤ min ≤ max, got {} and {}", name, least, most);
}

void expect_n_grams(std::string_view name, const std::vector<NGramLimit>& limits) {
  check(std::is_sorted(limits.begin(), limits.end(), [](auto a, auto b) { return a.n < b.n; }),
        ErrorCode::Config, "clean.gopher_repetition.{}: expected them in order of n", name);
  for (const auto [n, max_share] : limits) {
    check(n >= 1 && n <= kMaxNGram, ErrorCode::Config,
          "clean.gopher_repetition.{}: expected n from 1 to {}, got {}", name, kMaxNGram, n);
    expect_share(fmt::format("gopher_repetition.{}", name), max_share);
  }
}

}  // namespace

CleanSettings clean_preset(std::string_view name) {
  CleanSettings settings;
  settings.preset = name;
  settings.language.enabled = true;
  settings.c4.needs_terminal_mark = false;
  if (name == "fineweb-v1") {
    settings.version = CleanVersion::FinewebV1;
    settings.splitter = "nltk-en";
    settings.language.languages = {"en"};
  } else {
    check(name == "datatrove-0.10", ErrorCode::Config, "clean.preset: expected one of {}, got «{}»",
          fmt::join(kCleanPresets, ", "), name);
  }
  return settings;
}

void validate(const CleanSettings& s) {
  check(s.max_document_bytes > 0 && s.max_document_bytes < int64_t{1} << 32, ErrorCode::Config,
        "clean.max_document_bytes: expected 1 to 2^32 - 1, got {}", s.max_document_bytes);
  expect_share("language.min_score", s.language.min_score);
  expect_order("length.chars", static_cast<double>(s.length.min_chars),
               static_cast<double>(s.length.max_chars));
  expect_order("length.words", static_cast<double>(s.length.min_words),
               static_cast<double>(s.length.max_words));
  expect_order("length.mean_word_chars", s.length.min_mean_word_chars,
               s.length.max_mean_word_chars);
  expect_share("length.min_alpha_share", s.length.min_alpha_share);
  expect_share("length.max_symbol_share", s.length.max_symbol_share);
  expect_n_grams("top_n_grams", s.gopher_repetition.top_n_grams);
  expect_n_grams("dup_n_grams", s.gopher_repetition.dup_n_grams);
  expect_order("gopher_quality.words", static_cast<double>(s.gopher_quality.min_words),
               static_cast<double>(s.gopher_quality.max_words));
  expect_order("gopher_quality.mean_word_chars", s.gopher_quality.min_mean_word_chars,
               s.gopher_quality.max_mean_word_chars);
  check(s.c4.max_word_chars >= -1 && s.c4.min_line_words >= -1 && s.c4.min_sentences >= -1,
        ErrorCode::Config, "clean.c4: expected limits from -1 (off) up, got {}, {} and {}",
        s.c4.max_word_chars, s.c4.min_line_words, s.c4.min_sentences);
  check(s.fineweb.short_line_chars >= 0, ErrorCode::Config,
        "clean.fineweb.short_line_chars: expected 0 or more, got {}", s.fineweb.short_line_chars);
  expect_share("bad_words.keep_fraction", s.bad_words.keep_fraction);
}

}  // namespace ingot
