// What cleaning does, as plain data. Limits that are 0 switch their rule off unless said otherwise.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ingot {

// Which release of datatrove a formula follows where releases differ (docs/ingest-cleaning.md).
enum class CleanVersion { FinewebV1, Datatrove010 };

struct UrlSettings {
  bool enabled = false;
  int64_t min_soft_words = 2;
};

struct LanguageSettings {
  bool enabled = false;
  std::vector<std::string> languages;  // empty: any
  double min_score = 0.65;             // must be exceeded
  // Only the best label counts, and newlines are dropped, not made spaces.
  bool as_datatrove_0_2 = false;
};

// Rules of our own on characters and whitespace-separated words, for texts the others do not fit.
struct LengthSettings {
  bool enabled = false;
  int64_t min_chars = 0, max_chars = 0;
  int64_t min_words = 0, max_words = 0;
  double min_mean_word_chars = 0, max_mean_word_chars = 0;
  double min_alpha_share = 0;   // letters among characters that are not whitespace
  double max_symbol_share = 0;  // neither letter nor digit, among the same
};

inline constexpr int kMaxNGram = 10;

// In a list of them n grows.
struct NGramLimit {
  int n;             // 1 to kMaxNGram
  double max_share;  // of the text's characters
};

struct GopherRepetitionSettings {
  bool enabled = true;
  double max_dup_paragraphs = 0.3, max_dup_paragraph_chars = 0.2;
  double max_dup_lines = 0.3, max_dup_line_chars = 0.2;
  bool lines_by_splitlines = false;  // datatrove 0.2; else by runs of \n
  std::vector<NGramLimit> top_n_grams{{2, 0.2}, {3, 0.18}, {4, 0.16}};
  std::vector<NGramLimit> dup_n_grams{{5, 0.15}, {6, 0.14}, {7, 0.13},
                                      {8, 0.12}, {9, 0.11}, {10, 0.1}};
};

struct GopherQualitySettings {
  bool enabled = true;
  int64_t min_words = 50, max_words = 100'000;
  double min_mean_word_chars = 3, max_mean_word_chars = 10;
  double max_symbols_per_word = 0.1;
  double max_bullet_lines = 0.9, max_ellipsis_lines = 0.3;
  double min_alpha_words = 0.8;
  int64_t min_stop_words = 2;
  std::vector<std::string> stop_words{"the", "be", "to", "of", "and", "that", "have", "with"};
};

struct C4Settings {
  bool enabled = true;
  bool by_sentence = false;  // rules on sentences, not on lines
  bool removes_citations = true;
  bool needs_terminal_mark = true;
  int64_t max_word_chars = 1000;  // -1: off
  int64_t min_line_words = 3;     // -1: off
  int64_t min_sentences = 5;      // -1: off
  bool drops_lorem_ipsum = true, drops_javascript = true, drops_curly_bracket = true,
       drops_policy = true;
};

struct C4ParagraphSettings {
  bool enabled = false;
  int64_t min_paragraphs = 3, min_paragraph_chars = 200;
};

struct BadWordsSettings {
  bool enabled = false;
  bool whole_words = true;   // off for languages without spaces: ja, th, zh
  double keep_fraction = 0;  // of the documents with a bad word; which is decided by (seed, id)
  uint64_t seed = 0;
};

struct FinewebSettings {
  bool enabled = true;
  double min_terminal_lines = 0.12;
  bool exempts_no_terminal_lines = false;  // a share of exactly 0 passes
  double max_short_lines = 0.67;
  int64_t short_line_chars = 30;
  double max_dup_line_chars = 0.01;
  double max_newlines_per_word = 0.3;
};

struct PiiSettings {
  bool masks_emails = true, masks_ips = true;
  bool only_public_ips = true;
  bool needs_digit_boundaries = false;  // ours: 1.2.3.4.5 and 1234.5.6.7 are no addresses
  bool lower_case_emails_only = false;  // datatrove 0.2
};

struct CleanSettings {
  std::string preset = "datatrove-0.10";
  CleanVersion version = CleanVersion::Datatrove010;
  std::string splitter = "spacy-en";
  int64_t max_document_bytes = int64_t{64}
                               << 20;  // bounds memory: a worker takes some 20 times that

  // In the order in which they run.
  UrlSettings url;
  LanguageSettings language;
  LengthSettings length;
  GopherRepetitionSettings gopher_repetition;
  GopherQualitySettings gopher_quality;
  C4Settings c4;
  C4ParagraphSettings c4_paragraph;
  BadWordsSettings bad_words;
  FinewebSettings fineweb;
  PiiSettings pii;
};

inline constexpr std::string_view kCleanPresets[] = {"fineweb-v1", "datatrove-0.10"};

// The FineWeb recipe with the formulas of datatrove 0.3 or 0.10: no URL lists, language by score,
// Gopher repetition and quality, C4 without its terminal-mark rule, FineWeb, PII. Throws Config for
// another name.
CleanSettings clean_preset(std::string_view name);

// Throws Config when a value makes no sense or two contradict each other.
void validate(const CleanSettings& settings);

}  // namespace ingot
