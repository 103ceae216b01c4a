#include "ingest/clean/filters/c4.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>

#include "core/text/python_text.h"
#include "core/text/unicode.h"
#include "core/text/utf8.h"

namespace ingot {
namespace {

constexpr std::string_view kLoremIpsum = "lorem ipsum", kJavascript = "javascript";
constexpr std::string_view kPolicies[] = {"terms of use", "privacy policy", "cookie policy",
                                          "uses cookies", "use of cookies", "use cookies"};
// One of these is in every phrase. They begin with rare letters, which is what find() looks for.
constexpr std::string_view kMarks[] = {"javascript", "psum", "kie", "ms of use", "vacy policy"};
constexpr std::string_view kKelvinSign = "\u212A";

void lower_ascii(std::string_view text, std::string& out) {
  out = text;
  // A loop of fixed length over a local array, which the compiler turns into vector code.
  std::array<char, 32> block;
  const auto lower = [&block] {
    for (char& byte : block) {
      const bool is_capital = static_cast<uint8_t>(byte - 'A') < 26;
      byte = static_cast<char>(byte + (is_capital ? 'a' - 'A' : 0));
    }
  };
  for (size_t i = 0; i < out.size(); i += block.size()) {
    const size_t bytes = std::min(block.size(), out.size() - i);
    std::memcpy(block.data(), out.data() + i, bytes);
    lower();
    std::memcpy(out.data() + i, block.data(), bytes);
  }
}

// Whether any line may match a rule. Of the non-ASCII characters, the Kelvin sign becomes "k" in
// lower case; U+0130 becomes "i" and a mark, after which no phrase matches.
bool may_have_phrases(std::string_view text, std::string& lowered) {
  if (text.find(kKelvinSign) != std::string_view::npos) return true;
  lower_ascii(text, lowered);
  return std::any_of(std::begin(kMarks), std::end(kMarks), [&](std::string_view mark) {
    return lowered.find(mark) != std::string::npos;
  });
}

// Bytes of a citation mark at the front: \[\d*]|\[edit]|\[citation needed]
size_t citation_bytes(std::string_view text) {
  const char *p = text.data() + 1, *end = text.data() + text.size();
  while (p != end && text::has(text::decode(p), text::kDigit)) p += text::character_bytes(*p);
  if (p != end && *p == ']') return static_cast<size_t>(p - text.data()) + 1;
  for (const std::string_view mark : {"[edit]", "[citation needed]"}) {
    if (text.starts_with(mark)) return mark.size();
  }
  return 0;
}

// The line without citation marks; made in `buffer` where there are any.
std::string_view without_citations(std::string_view line, std::string& buffer) {
  size_t at = line.find('[');
  if (at == std::string_view::npos) return line;
  buffer.clear();
  size_t done = 0;
  while (at != std::string_view::npos) {
    const size_t bytes = citation_bytes(line.substr(at));
    if (bytes != 0) {
      buffer += line.substr(done, at - done);
      done = at + bytes;
    }
    at = line.find('[', at + std::max<size_t>(bytes, 1));
  }
  if (done == 0) return line;
  buffer += line.substr(done);
  return buffer;
}

struct LineWords {
  int64_t count = 0;  // no more than asked for are counted
  bool has_too_long = false;
};

// Is there no space within some `max_bytes` + 1 bytes? Looks at a few bytes of each such stretch.
bool may_have_word_above(std::string_view line, size_t max_bytes) {
  while (line.size() > max_bytes) {
    const size_t space = line.rfind(' ', max_bytes);
    if (space == std::string_view::npos) return true;
    line.remove_prefix(space + 1);
  }
  return false;
}

LineWords count_words(std::string_view line, const C4Settings& settings) {
  const auto max_chars = static_cast<size_t>(
      settings.max_word_chars < 0 ? std::numeric_limits<int64_t>::max() : settings.max_word_chars);
  const bool may_have_long = may_have_word_above(line, max_chars);
  LineWords words;
  std::string_view word;
  while ((may_have_long || words.count < settings.min_line_words) && text::next_word(line, word)) {
    ++words.count;
    if (word.size() > max_chars && text::length(word) > max_chars) words.has_too_long = true;
  }
  return words;
}

bool has_terminal_mark(std::string_view line) {
  if (line.empty() || line.ends_with("...")) return false;
  return std::string_view(".?!\"'").find(line.back()) != std::string_view::npos;
}

// Cuts a text into the pieces that end with its sentences.
template <class Put>
void for_each_sentence(std::string_view text, const std::vector<size_t>& ends, Put put) {
  size_t begin = 0;
  for (size_t i = 0; i < ends.size(); ++i) {
    const size_t end = i + 1 == ends.size() ? text.size() : ends[i];
    put(text.substr(begin, end - begin));
    begin = end;
  }
}

class C4 {
 public:
  C4(const C4Settings& settings, CleanVersion version, const Splitter& splitter,
     CleanScratch& scratch, C4LineCounts& counts)
      : s_(settings), version_(version), splitter_(splitter), scratch_(scratch), counts_(counts) {}

  std::string_view run(std::string_view text) {
    looks_for_phrases_ = may_have_phrases(text, scratch_.lowered);
    scratch_.rewritten.clear();
    std::string_view reason;
    if (s_.by_sentence) {
      splitter_.sentence_ends(text, scratch_.sentence_ends);
      for_each_sentence(text, scratch_.sentence_ends, [&](std::string_view piece) {
        if (reason.empty()) reason = take(piece);
      });
    } else {
      std::string_view piece;
      while (reason.empty() && text::next_line(text, piece)) reason = take(piece);
    }
    if (!reason.empty()) return reason;
    if (num_sentences_ < s_.min_sentences) return "too_few_sentences";
    const std::string_view stripped = text::strip(scratch_.rewritten);
    if (stripped.size() != scratch_.rewritten.size()) scratch_.rewritten = std::string(stripped);
    return {};
  }

 private:
  struct Judgement {
    C4Line line = C4Line::Kept;
    std::string_view document_reason = {};  // not empty: the document must go
  };

  // Appends the line if it is kept; the reason if the document must go.
  std::string_view take(std::string_view line) {
    line = text::strip(line);
    if (s_.by_sentence && version_ == CleanVersion::FinewebV1 && line.empty()) return {};
    ++counts_[static_cast<size_t>(C4Line::Total)];
    const Judgement judgement = judge(line);
    if (!judgement.document_reason.empty()) return judgement.document_reason;
    ++counts_[static_cast<size_t>(judgement.line)];
    if (judgement.line != C4Line::Kept) return {};
    // Counting goes only as far as the limit needs.
    if (num_sentences_ < s_.min_sentences)
      num_sentences_ += s_.by_sentence ? 1 : sentences_of(line);
    if (has_kept_) scratch_.rewritten += s_.by_sentence ? ' ' : '\n';
    scratch_.rewritten += line;
    has_kept_ = true;
    return {};
  }

  // Removes citation marks on the way: `line` is a view of scratch_.line then.
  Judgement judge(std::string_view& line) {
    const LineWords words = count_words(line, s_);
    if (words.has_too_long) return {C4Line::TooLongWord};
    if (s_.removes_citations) line = without_citations(line, scratch_.line);
    if (s_.needs_terminal_mark && !has_terminal_mark(line)) return {C4Line::NoTerminalMark};
    if (words.count < s_.min_line_words) return {C4Line::TooFewWords};
    std::string& lowered = scratch_.lowered;
    lowered.clear();
    if (looks_for_phrases_) text::append_lower(lowered, line);
    if (s_.drops_lorem_ipsum && text::contains(lowered, kLoremIpsum))
      return {C4Line::Kept, "lorem_ipsum"};
    if (s_.drops_javascript && text::contains(lowered, kJavascript)) return {C4Line::Javascript};
    if (s_.drops_curly_bracket && line.find('{') != std::string_view::npos) {
      return {C4Line::Kept, "curly_bracket"};
    }
    const auto is_in_line = [&](std::string_view policy) {
      return text::contains(lowered, policy);
    };
    if (s_.drops_policy && std::any_of(std::begin(kPolicies), std::end(kPolicies), is_in_line)) {
      return {C4Line::Policy};
    }
    return {};
  }

  int64_t sentences_of(std::string_view line) {
    splitter_.sentence_ends(line, scratch_.sentence_ends);
    if (version_ == CleanVersion::Datatrove010) {
      return std::max<int64_t>(1, static_cast<int64_t>(scratch_.sentence_ends.size()));
    }
    int64_t sentences = 0;
    for_each_sentence(line, scratch_.sentence_ends, [&](std::string_view sentence) {
      sentences += !text::strip(sentence).empty();
    });
    return sentences;
  }

  const C4Settings& s_;
  const CleanVersion version_;
  const Splitter& splitter_;
  CleanScratch& scratch_;
  C4LineCounts& counts_;
  bool has_kept_ = false;
  bool looks_for_phrases_ = false;
  int64_t num_sentences_ = 0;
};

}  // namespace

std::string_view c4_quality(const C4Settings& settings, CleanVersion version, std::string_view text,
                            const Splitter& splitter, CleanScratch& scratch, C4LineCounts& counts) {
  return C4(settings, version, splitter, scratch, counts).run(text);
}

std::unique_ptr<Filter> C4Settings::make(CleanFiles&) const {
  return filter_of(*this, [](const C4Settings& s, Passage& passage) {
    const auto reason = c4_quality(s, passage.version, passage.text(), passage.splitter,
                                   passage.scratch, passage.lines);
    if (reason.empty()) passage.rewrite();
    return reason;
  });
}

std::unique_ptr<FilterSettings> filter_c4() {
  return std::make_unique<C4Settings>();
}

}  // namespace ingot
