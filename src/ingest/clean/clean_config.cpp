#include "ingest/clean/clean_config.h"

#include <fmt/ranges.h>
#include <xxhash.h>

#include <charconv>

#include "core/error.h"
#include "core/text/python_text.h"
#include "core/text/utf8.h"

namespace ingot {
namespace {

constexpr Range kShare{0, 1};
constexpr Range kCount{0, 1e15};
constexpr Range kCountOrOff{-1, 1e15};

// A setting of type text whose field is not.
template <class Get, class Set>
Setting converted_setting(std::string name, std::string doc, Get get, Set set) {
  const auto text = std::make_shared<std::string>();
  Setting setting = text_setting(std::move(name), *text, std::move(doc));
  setting.get = [get] { return SettingValue(get()); };
  setting.set = [text, set, check_and_keep = setting.set](const SettingValue& value) {
    check_and_keep(value);
    set(*text);
  };
  return setting;
}

Setting list_setting(std::string name, std::vector<std::string>& field, std::string doc) {
  return converted_setting(
      std::move(name), std::move(doc),
      [&field] { return fmt::format("{}", fmt::join(field, " ")); },
      [&field](std::string_view text) {
        field.clear();
        for (std::string_view word; text::next_word(text, word);) field.emplace_back(word);
      });
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

void append(std::vector<Setting>& all, std::vector<Setting> more) {
  for (Setting& setting : more) all.push_back(std::move(setting));
}

std::vector<Setting> source_settings(CleanSettings& s, CleanFiles& files) {
  return {
      flag_setting("url.enabled", s.url.enabled, "remove documents by their URL"),
      text_setting("url.domains", files.domains, "file of registered domains and hosts"),
      text_setting("url.urls", files.urls, "file of whole URLs"),
      text_setting("url.words", files.url_words, "file of words of which one is enough"),
      text_setting("url.soft_words", files.url_soft_words, "file of words that count together"),
      integer_setting("url.min_soft_words", s.url.min_soft_words, kCount, "",
                      "so many soft words are enough"),
      text_setting("url.subwords", files.url_subwords, "file of parts of words"),
      text_setting("url.public_suffixes", files.public_suffixes, "publicsuffix.org's list"),
      flag_setting("language.enabled", s.language.enabled, "keep documents of some languages"),
      list_setting("language.languages", s.language.languages, "labels that stay; none: any"),
      number_setting("language.min_score", s.language.min_score, kShare, "",
                     "what a label's score must exceed"),
      text_setting("language.model", files.language_model,
                   "fastText's .bin; none: scripts are told apart, not languages"),
      flag_setting("language.as_datatrove_0_2", s.language.as_datatrove_0_2,
                   "only the best label counts"),
  };
}

std::vector<Setting> length_settings(LengthSettings& s) {
  return {
      flag_setting("length.enabled", s.enabled, "rules of our own on characters and words"),
      integer_setting("length.min_chars", s.min_chars, kCount, "characters", "0: off"),
      integer_setting("length.max_chars", s.max_chars, kCount, "characters", "0: off"),
      integer_setting("length.min_words", s.min_words, kCount, "words", "0: off"),
      integer_setting("length.max_words", s.max_words, kCount, "words", "0: off"),
      number_setting("length.min_mean_word_chars", s.min_mean_word_chars, {0, 1e6}, "characters",
                     "0: off"),
      number_setting("length.max_mean_word_chars", s.max_mean_word_chars, {0, 1e6}, "characters",
                     "0: off"),
      number_setting("length.min_alpha_share", s.min_alpha_share, kShare, "",
                     "letters among what is not whitespace"),
      number_setting("length.max_symbol_share", s.max_symbol_share, kShare, "",
                     "neither letters nor digits, among the same; 0: off"),
  };
}

std::vector<Setting> gopher_settings(GopherRepetitionSettings& r, GopherQualitySettings& q) {
  return {
      flag_setting("gopher_repetition.enabled", r.enabled, "remove repetitive documents"),
      number_setting("gopher_repetition.max_dup_paragraphs", r.max_dup_paragraphs, kShare, "", ""),
      number_setting("gopher_repetition.max_dup_paragraph_chars", r.max_dup_paragraph_chars, kShare,
                     "", ""),
      number_setting("gopher_repetition.max_dup_lines", r.max_dup_lines, kShare, "", ""),
      number_setting("gopher_repetition.max_dup_line_chars", r.max_dup_line_chars, kShare, "", ""),
      flag_setting("gopher_repetition.lines_by_splitlines", r.lines_by_splitlines,
                   "as datatrove 0.2; else by runs of line feeds"),
      n_gram_setting("gopher_repetition.top_n_grams", r.top_n_grams,
                     "share of the most frequent n-gram"),
      n_gram_setting("gopher_repetition.dup_n_grams", r.dup_n_grams, "share of repeated n-grams"),
      flag_setting("gopher_quality.enabled", q.enabled, "remove what does not read as prose"),
      integer_setting("gopher_quality.min_words", q.min_words, kCount, "words", ""),
      integer_setting("gopher_quality.max_words", q.max_words, kCount, "words", ""),
      number_setting("gopher_quality.min_mean_word_chars", q.min_mean_word_chars, {0, 1e6},
                     "characters", ""),
      number_setting("gopher_quality.max_mean_word_chars", q.max_mean_word_chars, {0, 1e6},
                     "characters", ""),
      number_setting("gopher_quality.max_symbols_per_word", q.max_symbols_per_word, {0, 1e6}, "",
                     "hashes, and ellipses"),
      number_setting("gopher_quality.max_bullet_lines", q.max_bullet_lines, kShare, "", ""),
      number_setting("gopher_quality.max_ellipsis_lines", q.max_ellipsis_lines, kShare, "", ""),
      number_setting("gopher_quality.min_alpha_words", q.min_alpha_words, kShare, "", ""),
      integer_setting("gopher_quality.min_stop_words", q.min_stop_words, kCount, "words", ""),
      list_setting("gopher_quality.stop_words", q.stop_words, ""),
  };
}

std::vector<Setting> c4_settings(C4Settings& s, C4ParagraphSettings& p) {
  return {
      flag_setting("c4.enabled", s.enabled, "drop lines, and documents with few sentences left"),
      flag_setting("c4.by_sentence", s.by_sentence, "rules on sentences, not on lines"),
      flag_setting("c4.removes_citations", s.removes_citations, "[1], [edit], [citation needed]"),
      flag_setting("c4.needs_terminal_mark", s.needs_terminal_mark,
                   "drop lines that do not end a sentence"),
      integer_setting("c4.max_word_chars", s.max_word_chars, kCountOrOff, "characters", "-1: off"),
      integer_setting("c4.min_line_words", s.min_line_words, kCountOrOff, "words", "-1: off"),
      integer_setting("c4.min_sentences", s.min_sentences, kCountOrOff, "sentences", "-1: off"),
      flag_setting("c4.drops_lorem_ipsum", s.drops_lorem_ipsum, "documents"),
      flag_setting("c4.drops_javascript", s.drops_javascript, "lines"),
      flag_setting("c4.drops_curly_bracket", s.drops_curly_bracket, "documents"),
      flag_setting("c4.drops_policy", s.drops_policy, "lines about cookies and terms of use"),
      flag_setting("c4_paragraph.enabled", p.enabled, "documents need long paragraphs"),
      integer_setting("c4_paragraph.min_paragraphs", p.min_paragraphs, kCount, "paragraphs", ""),
      integer_setting("c4_paragraph.min_paragraph_chars", p.min_paragraph_chars, kCount,
                      "characters", ""),
  };
}

std::vector<Setting> last_settings(CleanSettings& s, CleanFiles& files) {
  BadWordsSettings& b = s.bad_words;
  FinewebSettings& f = s.fineweb;
  PiiSettings& p = s.pii;
  return {
      flag_setting("bad_words.enabled", b.enabled, "remove documents with words of a list"),
      text_setting("bad_words.list", files.bad_words, "file, one word or phrase a line"),
      flag_setting("bad_words.whole_words", b.whole_words, "off for ja, th, zh"),
      number_setting("bad_words.keep_fraction", b.keep_fraction, kShare, "",
                     "of such documents, by (seed, id)"),
      flag_setting("fineweb.enabled", f.enabled, "remove lists, menus and repeated lines"),
      number_setting("fineweb.min_terminal_lines", f.min_terminal_lines, kShare, "", ""),
      flag_setting("fineweb.exempts_no_terminal_lines", f.exempts_no_terminal_lines,
                   "a share of exactly 0 passes"),
      number_setting("fineweb.max_short_lines", f.max_short_lines, kShare, "", ""),
      integer_setting("fineweb.short_line_chars", f.short_line_chars, kCount, "characters", ""),
      number_setting("fineweb.max_dup_line_chars", f.max_dup_line_chars, kShare, "", ""),
      number_setting("fineweb.max_newlines_per_word", f.max_newlines_per_word, {0, 1e6}, "", ""),
      flag_setting("pii.masks_emails", p.masks_emails, "replace e-mail addresses"),
      flag_setting("pii.masks_ips", p.masks_ips, "replace IPv4 addresses"),
      flag_setting("pii.only_public_ips", p.only_public_ips, "leave private ranges alone"),
      flag_setting("pii.needs_digit_boundaries", p.needs_digit_boundaries,
                   "1.2.3.4.5 and 1234.5.6.7 are no addresses"),
      flag_setting("pii.lower_case_emails_only", p.lower_case_emails_only, "as datatrove 0.2"),
  };
}

// Reads files and hashes their contents one after another, with their lengths.
class HashedFiles {
 public:
  explicit HashedFiles(Storage& storage) : storage_(storage) {}

  std::string read(const std::string& path) {
    std::string contents = path.empty() ? std::string() : read_text(storage_, path);
    hash_ = XXH3_64bits_withSeed(contents.data(), contents.size(), hash_ + contents.size());
    return contents;
  }
  // Of words: text functions take nothing but UTF-8.
  std::string read_list(const std::string& path) {
    std::string contents = read(path);
    const size_t valid = valid_utf8_prefix(contents);
    check(valid == contents.size(), ErrorCode::Data,
          "{}: not UTF-8 at byte {}: convert it, with iconv for example", path, valid);
    return contents;
  }
  uint64_t hash() const { return hash_; }

 private:
  Storage& storage_;
  uint64_t hash_ = 0;
};

}  // namespace

std::vector<Setting> settings_of(CleanConfig& config) {
  CleanSettings& s = config.settings;
  std::vector<Setting> all = {
      choice_setting(
          "preset", {std::begin(kCleanPresets), std::end(kCleanPresets)}, [&s] { return s.preset; },
          [&s](const std::string& name) { s = clean_preset(name); },
          "whose formulas, and all that follows"),
      choice_setting(
          "splitter", {std::begin(kSplitterNames), std::end(kSplitterNames)},
          [&s] { return s.splitter; }, [&s](const std::string& name) { s.splitter = name; },
          "what words and sentences are"),
      text_setting("punkt", config.files.punkt,
                   "folder of nltk_data's punkt_tab/english; the splitter nltk-en needs it"),
      integer_setting("max_document_bytes", s.max_document_bytes, {1, 4294967295.0}, "bytes",
                      "longer documents are removed"),
  };
  append(all, source_settings(s, config.files));
  append(all, length_settings(s.length));
  append(all, gopher_settings(s.gopher_repetition, s.gopher_quality));
  append(all, c4_settings(s.c4, s.c4_paragraph));
  append(all, last_settings(s, config.files));
  return all;
}

CleanConfig parse_clean_config(std::string_view toml, std::string_view origin,
                               const Overrides& overrides) {
  CleanConfig config;
  apply_toml(toml, origin, overrides, settings_of(config), "ingot data clean --print-config");
  validate(config.settings);
  return config;
}

std::string to_toml(const CleanConfig& config) {
  CleanConfig copy = config;
  std::string text, section;
  for (const Setting& setting : settings_of(copy)) {
    const size_t dot = setting.name.find('.');
    if (dot != std::string::npos && setting.name.substr(0, dot) != section) {
      section = setting.name.substr(0, dot);
      text += fmt::format("\n[{}]\n", section);
    }
    const std::string key = dot == std::string::npos ? setting.name : setting.name.substr(dot + 1);
    text += fmt::format("{} = {}", key, toml_text(setting.get()));
    text += setting.doc.empty() ? "\n" : fmt::format("  # {}\n", setting.doc);
  }
  return text;
}

LoadedCleanResources load_clean_resources(Storage& storage, const CleanConfig& config) {
  const CleanFiles& files = config.files;
  HashedFiles hashed(storage);
  LoadedCleanResources loaded;
  CleanResources& resources = loaded.resources;
  resources.urls.domains = hashed.read_list(files.domains);
  resources.urls.urls = hashed.read_list(files.urls);
  resources.urls.words = hashed.read_list(files.url_words);
  resources.urls.soft_words = hashed.read_list(files.url_soft_words);
  resources.urls.subwords = hashed.read_list(files.url_subwords);
  resources.urls.public_suffixes = hashed.read_list(files.public_suffixes);
  resources.bad_words = hashed.read_list(files.bad_words);
  if (!files.punkt.empty()) {
    PunktFiles& punkt = resources.punkt.emplace();
    punkt.abbreviations = hashed.read_list(join_path(files.punkt, "abbrev_types.txt"));
    punkt.collocations = hashed.read_list(join_path(files.punkt, "collocations.tab"));
    punkt.sentence_starters = hashed.read_list(join_path(files.punkt, "sent_starters.txt"));
    punkt.contexts = hashed.read_list(join_path(files.punkt, "ortho_context.tab"));
  }
  if (!files.language_model.empty()) {
    resources.language =
        make_fasttext_detector(hashed.read(files.language_model), files.language_model);
  }
  loaded.hash = hashed.hash();
  return loaded;
}

}  // namespace ingot
