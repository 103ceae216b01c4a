#include "ingest/clean/splitters/punkt.h"

#include <fmt/ranges.h>

#include <charconv>
#include <optional>

#include "core/error/error.h"
#include "core/text/python_text.h"
#include "core/text/unicode.h"
#include "core/text/utf8.h"

namespace ingot {
namespace {

using text::decode;
using text::has;

bool is_one_of(char byte, std::string_view set) {
  return set.find(byte) != std::string_view::npos;
}
bool is_sentence_end(char byte) {
  return is_one_of(byte, ".?!");
}
bool is_non_word(char byte) {
  return is_one_of(byte, ")\";}]*:@'({[!?");
}
bool is_space(const char* p) {
  return has(decode(p), text::kSpace);
}

// --- Punkt's own word pattern
// ----------------------------------------------------------------------

// -{2,}|\.{2,}|(?:\.\s){2,}\. at p: where it ends, or p. Whether there is one is seen from the
// first few characters.
const char* skip_multi_character(const char* p, const char* end) {
  const char* q = p;
  if (*p == '-' || *p == '.') {
    while (q != end && *q == *p) ++q;
    if (q - p >= 2) return q;
  }
  if (*p != '.') return p;
  // Full stops with one space between; the last one counts only if two pairs come before it.
  const char* stop = p;
  int pairs = 0;
  for (q = p + 1; q != end && is_space(q);) {
    q += text::character_bytes(*q);
    if (q == end || *q != '.') break;
    if (++pairs >= 2) stop = q + 1;
    ++q;
  }
  return stop;
}

bool is_multi_character(const char* p, const char* end) {
  if (end - p < 2) return false;
  if ((*p == '-' || *p == '.') && p[1] == *p) return true;
  if (*p != '.') return false;
  for (int pair = 0; pair < 2; ++pair) {  // ". . ."
    ++p;
    if (p == end || !is_space(p)) return false;
    p += text::character_bytes(*p);
    if (p == end || *p != '.') return false;
  }
  return true;
}

bool ends_word(const char* p, const char* end) {
  return p == end || is_non_word(*p) || is_space(p) || is_multi_character(p, end);
}

// The token that begins at p, which is no whitespace.
const char* skip_token(const char* p, const char* end) {
  if (const char* stop = skip_multi_character(p, end); stop != p) return stop;
  const char* q = p + text::character_bytes(*p);
  if (is_one_of(*p, "(\"`{[:;&#*@)}]-,")) return q;  // no word begins like that
  while (!ends_word(q, end) && !(*q == ',' && ends_word(q + 1, end)))
    q += text::character_bytes(*q);
  return q;
}

// --- tokens
// ----------------------------------------------------------------------------------------

// ^-?[\.,]?\d[\d,\.-]*\.?$
bool is_number(std::string_view token) {
  const char *p = token.data(), *end = p + token.size();
  if (p != end && *p == '-') ++p;
  if (p != end && (*p == '.' || *p == ',')) ++p;
  if (p == end || !has(decode(p), text::kDigit)) return false;
  while (p != end && (is_one_of(*p, ",.-") || has(decode(p), text::kDigit)))
    p += text::character_bytes(*p);
  return p == end;
}

struct Token {
  std::string_view text;
  std::string type;
  bool is_break = false, is_abbreviation = false, is_ellipsis = false;

  explicit Token(std::string_view token)
      : text(token), type(is_number(token) ? "##number##" : text::lower(token)) {}

  bool ends_with_period() const { return text.ends_with('.'); }
  bool starts_with(text::Property property) const { return has(decode(text.data()), property); }
  std::string_view type_without_period() const {
    std::string_view bare = type;
    if (bare.size() > 1 && bare.ends_with('.')) bare.remove_suffix(1);
    return bare;
  }
  std::string_view type_without_break() const { return is_break ? type_without_period() : type; }
  bool is_initial() const {  // one letter and a full stop
    const size_t letter = text::character_bytes(text[0]);
    const uint16_t flags = text::properties_of(decode(text.data()));
    return text.size() == letter + 1 && text.back() == '.' && (flags & text::kWordCharacter) != 0 &&
           (flags & text::kDigit) == 0;
  }
};

// Lines of a file of Punkt's, each cut at tabs into `columns`.
template <class Put>
void read_rows(std::string_view file, size_t columns, const char* name, Put put) {
  std::vector<std::string> row;
  for (std::string_view line; text::next_piece(file, '\n', line);) {
    if (text::strip(line).empty()) continue;
    if (line.ends_with('\r')) line.remove_suffix(1);
    row.clear();
    for (std::string_view cell; text::next_piece(line, '\t', cell);) row.emplace_back(cell);
    check(row.size() == columns, ErrorCode::Data,
          "{}: expected {} columns with tabs between, got «{}»", name, columns,
          fmt::join(row, "\t"));
    put(row);
  }
}

}  // namespace

Punkt::Punkt(const PunktFiles& files) {
  read_rows(files.abbreviations, 1, "abbrev_types.txt",
            [&](auto& row) { abbreviations_.insert(row[0]); });
  read_rows(files.sentence_starters, 1, "sent_starters.txt",
            [&](auto& row) { sentence_starters_.insert(row[0]); });
  read_rows(files.collocations, 2, "collocations.tab",
            [&](auto& row) { collocations_.emplace(row[0], row[1]); });
  read_rows(files.contexts, 2, "ortho_context.tab", [&](auto& row) {
    const std::string& digits = row[1];
    uint32_t flags = 0;
    const auto [stop, error] = std::from_chars(digits.data(), digits.data() + digits.size(), flags);
    check(error == std::errc() && stop == digits.data() + digits.size(), ErrorCode::Data,
          "ortho_context.tab: expected a number behind «{}», got «{}»", row[0], digits);
    contexts_[row[0]] = flags;
  });
}

// The tokens around a possible end of a sentence.
class PunktContext {
 public:
  PunktContext(const Punkt& punkt, std::string_view text) : punkt_(punkt) {
    for (std::string_view line; text::next_piece(text, '\n', line);) {
      for (const char *p = line.data(), *end = p + line.size(); p != end;) {
        const char* begin = p;
        if (is_space(p)) {
          p += text::character_bytes(*p);
          continue;
        }
        p = skip_token(p, end);
        tokens_.emplace_back(std::string_view(begin, static_cast<size_t>(p - begin)));
        classify(tokens_.back());
      }
    }
  }

  // Does a token other than the last end a sentence?
  bool has_break() {
    for (size_t i = 0; i + 1 < tokens_.size(); ++i) {
      revise(tokens_[i], tokens_[i + 1]);
      if (tokens_[i].is_break) return true;
    }
    return false;
  }

 private:
  // By the token alone.
  void classify(Token& token) const {
    const std::string_view text = token.text;
    if (text.size() == 1 && is_sentence_end(text[0])) {
      token.is_break = true;
    } else if (text.size() >= 2 && text.find_first_not_of('.') == std::string_view::npos) {
      token.is_ellipsis = true;
    } else if (token.ends_with_period() && !text.ends_with("..")) {
      const std::string word = text::lower(text.substr(0, text.size() - 1));
      const std::string tail =
          word.substr(word.rfind('-') + 1);  // all of it where there is no hyphen
      token.is_abbreviation =
          punkt_.abbreviations_.contains(word) || punkt_.abbreviations_.contains(tail);
      token.is_break = !token.is_abbreviation;
    }
  }

  // By the token and the next.
  void revise(Token& token, const Token& next) const {
    if (!token.ends_with_period()) return;
    const std::string type(token.type_without_period()), next_type(next.type_without_break());
    const bool is_initial = token.is_initial();
    if (punkt_.collocations_.contains({type, next_type})) {
      token.is_break = false;
      return;
    }
    const std::optional<bool> starts_sentence = looks_like_start(next, next_type);
    const bool next_is_upper = next.starts_with(text::kUpper);
    if ((token.is_abbreviation || token.is_ellipsis) && !is_initial) {
      if (starts_sentence == true ||
          (next_is_upper && punkt_.sentence_starters_.contains(next_type))) {
        token.is_break = true;
        return;
      }
    }
    if (is_initial || type == "##number##") {
      const bool is_name = !starts_sentence.has_value() && is_initial && next_is_upper &&
                           (context_of(next_type) & Punkt::kLower) == 0;
      if (starts_sentence == false || is_name) token.is_break = false;
    }
  }

  uint32_t context_of(const std::string& type) const {
    const auto place = punkt_.contexts_.find(type);
    return place == punkt_.contexts_.end() ? 0 : place->second;
  }

  // The orthographic heuristic; nothing: it cannot tell.
  std::optional<bool> looks_like_start(const Token& token, const std::string& type) const {
    if (token.text.size() == 1 && is_one_of(token.text[0], ";:,.!?")) return false;
    const uint32_t context = context_of(type);
    if (token.starts_with(text::kUpper) && (context & Punkt::kLower) != 0 &&
        (context & Punkt::kMidUpper) == 0) {
      return true;
    }
    if (token.starts_with(text::kLower) &&
        ((context & Punkt::kUpper) != 0 || (context & Punkt::kBeginLower) == 0)) {
      return false;
    }
    return {};
  }

  const Punkt& punkt_;
  std::vector<Token> tokens_;
};

bool Punkt::has_sentence_break(std::string_view context) const {
  return PunktContext(*this, context).has_break();
}

void Punkt::sentences(std::string_view text, std::vector<Span>& spans) const {
  const char *data = text.data(), *end = data + text.size();
  std::vector<Span>& raw = spans;
  raw.clear();

  // A possible end: the mark, where its context begins and ends, and the next token, if one follows
  // after whitespace.
  struct Candidate {
    size_t mark, context_begin, context_end;
    std::optional<size_t> next_token;
  };
  std::optional<Candidate> waiting;
  size_t last_break = 0;
  const auto decide = [&](const Candidate& candidate) {
    const size_t context_bytes = candidate.context_end - candidate.context_begin;
    if (!has_sentence_break(text.substr(candidate.context_begin, context_bytes))) return;
    raw.push_back({last_break, candidate.mark + 1});
    last_break = candidate.next_token.value_or(candidate.mark + 1);
  };
  for (size_t mark = text.find_first_of(".?!"); mark != std::string_view::npos;
       mark = text.find_first_of(".?!", mark + 1)) {
    Candidate candidate{mark, 0, mark + 2, {}};
    const char* p = data + mark + 1;
    if (p == end) break;
    if (!is_non_word(*p)) {
      while (p != end && is_space(p)) p += text::character_bytes(*p);
      if (p == end || p == data + mark + 1) continue;  // no whitespace, or nothing behind it
      candidate.next_token = static_cast<size_t>(p - data);
      while (p != end && !is_space(p)) p += text::character_bytes(*p);
      candidate.context_end = static_cast<size_t>(p - data);
    }
    // The context begins behind the last (ASCII) whitespace since the mark before, or where that
    // one's did. Whitespace at the very front of the text does not count there, its index being 0.
    const size_t searched_from = waiting ? waiting->mark : 0;
    candidate.context_begin = waiting ? waiting->context_begin : 0;
    for (size_t i = mark; i > searched_from + 1; --i) {
      if (is_one_of(data[i - 1], " \t\n\r\v\f")) {
        candidate.context_begin = i;
        break;
      }
    }
    if (waiting && waiting->mark <= candidate.context_begin) decide(*waiting);
    waiting = candidate;
  }
  if (waiting) decide(*waiting);
  raw.push_back({last_break, text::rstrip(text).size()});

  // Closing quotes and brackets at the front of a sentence belong to the one before.
  size_t kept = 0, moved = 0;
  for (size_t i = 0; i < raw.size(); ++i) {
    Span span{raw[i].begin + moved, raw[i].end};
    moved = 0;
    bool is_extended = false;
    if (i + 1 < raw.size()) {
      const Span next = raw[i + 1];
      const std::string_view sentence = text.substr(next.begin, next.end - next.begin);
      const size_t closers = std::min(sentence.find_first_not_of("\"')]}"), sentence.size());
      const std::string_view behind = sentence.substr(closers);
      is_extended =
          closers != 0 && (behind.empty() || behind.starts_with("--") || is_space(behind.data()));
      if (is_extended) {
        span.end = next.begin + closers;
        moved = sentence.size() - text::lstrip(behind).size();
      }
    }
    if (is_extended || span.begin < span.end) spans[kept++] = span;
  }
  spans.resize(kept);
}

}  // namespace ingot
