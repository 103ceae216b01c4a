#include "ingest/clean/splitters/split_nltk.h"

#include <algorithm>
#include <array>

#include "core/text/python_text.h"
#include "core/text/unicode.h"
#include "core/text/utf8.h"

namespace ingot {
namespace {

class ByteSet {
 public:
  ByteSet() = default;
  explicit ByteSet(std::string_view bytes) { add(bytes); }

  void add(std::string_view bytes) {
    for (const char byte : bytes) has_[static_cast<unsigned char>(byte)] = true;
  }
  bool has(char byte) const { return has_[static_cast<unsigned char>(byte)]; }

 private:
  std::array<bool, 256> has_{};
};

// One sentence under NLTK's substitutions, one after the other; each is a pass from `text_` to
// `next_` and its regular expression stands beside it. Most find nothing: a pass whose bytes the
// sentence does not have is not made.
class Treebank {
 public:
  // Appends the sentence with spaces between its words.
  void append(std::string_view sentence, std::string& out) {
    text_ = sentence;
    present_ = ByteSet(sentence);
    present_.add(" `'");  // which passes put in
    open_quotes();
    punctuation();
    pad_any("[](){}<>");
    pad("--");
    text_.insert(0, " ");
    text_ += ' ';
    close_quotes();
    contractions();
    out += text_;
  }

 private:
  // Calls at(position) for every byte among `triggers`; it puts what it replaces into next_ and
  // returns the bytes it used, or 0 to have the byte copied.
  template <class At>
  void pass(std::string_view triggers, At at) {
    if (std::none_of(triggers.begin(), triggers.end(),
                     [&](char byte) { return present_.has(byte); }))
      return;
    const ByteSet stops(triggers);
    pass_where([&](size_t i) { return stops.has(text_[i]); }, at);
  }
  // The same for every byte: the pattern begins with [^…].
  template <class At>
  void pass_all(At at) {
    pass_where([](size_t) { return true; }, at);
  }
  template <class Stops, class At>
  void pass_where(Stops stops, At at) {
    next_.clear();
    size_t copied = 0;
    for (size_t i = 0; i < text_.size();) {
      if (!stops(i)) {
        ++i;
        continue;
      }
      next_.append(text_, copied, i - copied);
      const size_t used = at(i);
      if (used == 0) next_ += text_[i];
      i += std::max<size_t>(used, 1);
      copied = i;
    }
    next_.append(text_, copied, std::string::npos);
    text_.swap(next_);
  }

  size_t put_padded(size_t i, size_t bytes) {
    next_ += ' ';
    next_.append(text_, i, bytes);
    next_ += ' ';
    return bytes;
  }
  size_t copy(size_t i, size_t bytes) {
    next_.append(text_, i, bytes);
    return bytes;
  }
  bool is_at(size_t i, std::string_view what) const {
    return std::string_view(text_).substr(i).starts_with(what);
  }

  void pad(std::string_view what) {
    pass(what.substr(0, 1),
         [&](size_t i) { return is_at(i, what) ? put_padded(i, what.size()) : 0; });
  }
  void pad_any(std::string_view bytes) {
    pass(bytes, [&](size_t i) { return put_padded(i, 1); });
  }
  void pad_run(std::string_view byte, size_t least) {  // byte{least,}
    pass(byte, [&](size_t i) {
      const size_t run = std::min(text_.find_first_not_of(byte, i), text_.size()) - i;
      return run >= least ? put_padded(i, run) : copy(i, run);
    });
  }

  void open_quotes() {
    for (const std::string_view quote : {"«", "“", "‘", "„"}) pad(quote);  // ([«“‘„]|[`]+)
    pad_run("`", 1);
    if (text_.starts_with('"')) text_.replace(0, 1, "``");  // ^"
    pad("``");
    pass(" ([{<", [&](size_t i) -> size_t {  // ([ ([{<])("|'{2})
      const size_t quote = is_at(i + 1, "\"") ? 1 : is_at(i + 1, "''") ? 2 : 0;
      if (quote == 0) return 0;
      next_ += text_[i];
      next_ += " `` ";
      return 1 + quote;
    });
    pass("'", [&](size_t i) -> size_t {  // (?i)(')(?!re|ve|ll|m|t|s|d|n)(\w)\b
      if (!is_word_at(i + 1)) return 0;
      for (const std::string_view clitic : {"re", "ve", "ll", "m", "t", "s", "d", "n"}) {
        if (bytes_ignoring_case(i + 1, clitic) != 0) return 0;
      }
      const size_t letter = text::character_bytes(text_[i + 1]);
      if (is_word_at(i + 1 + letter)) return 0;
      next_ += "' ";
      next_.append(text_, i + 1, letter);
      return 1 + letter;
    });
  }

  void punctuation() {
    final_period("])}>\"'»”’ ", " ");     // ([^\.])(\.)([\]\)}>"'»”’ ]*)\s*$ → \1 \2 \3
    pass(":,", [&](size_t i) -> size_t {  // ([:,])([^\d])
      if (i + 1 == text_.size() || text::has(text::decode(text_.data() + i + 1), text::kDigit))
        return 0;
      put_padded(i, 1);
      return 1 + copy(i + 1, text::character_bytes(text_[i + 1]));
    });
    // ([:,])$
    const size_t last = text_.size() - (text_.ends_with('\n') ? 2 : 1);
    if (last < text_.size() && (text_[last] == ':' || text_[last] == ',')) {
      text_.insert(last + 1, " ");
      text_.insert(last, " ");
    }
    if (text::contains(text_, "..")) pad_run(".", 2);
    pad_any(";@#$%&");
    final_period("])}>\"'", "");  // ([^\.])(\.)([\]\)}>"']*)\s*$ → \1 \2\3
    pad_any("?!");
    if (text::contains(text_, "' ")) {
      pass_all([&](size_t i) -> size_t {  // ([^'])'␣
        if (text_[i] == '\'' || !is_at(i + 1, "' ")) return 0;
        next_ += text_[i];
        next_ += " ' ";
        return 3;
      });
    }
    pad_any("*");
  }

  // The last full stop, when only closing marks and then whitespace follow and no full stop comes
  // directly before.
  void final_period(std::string_view closers, std::string_view behind_period) {
    const size_t period = text_.rfind('.');
    if (period == std::string::npos || period == 0 || text_[period - 1] == '.') return;
    const char *p = text_.data() + period + 1, *end = text_.data() + text_.size();
    while (p != end && text::contains(closers, {p, text::character_bytes(*p)}))
      p += text::character_bytes(*p);
    const std::string marks(text_, period + 1, static_cast<size_t>(p - text_.data()) - period - 1);
    if (!text::lstrip({p, static_cast<size_t>(end - p)}).empty()) return;
    text_.resize(period);
    text_ += " .";
    text_ += behind_period;
    text_ += marks;
    text_ += ' ';
  }

  void close_quotes() {
    for (const std::string_view quote : {"»", "”", "’"}) pad(quote);  // ([»”’])
    pad("''");
    pass("\"", [&](size_t) -> size_t {
      next_ += " '' ";
      return 1;
    });
    if (text_.find('\'') == std::string::npos) return;
    clitics({"'s", "'S", "'m", "'M", "'d", "'D", "'"});
    clitics({"'ll", "'LL", "'re", "'RE", "'ve", "'VE", "n't", "N'T"});
  }

  // ([^' ])(clitic)␣
  void clitics(std::initializer_list<std::string_view> names) {
    pass_all([&](size_t i) -> size_t {
      if (text_[i] == '\'' || text_[i] == ' ') return 0;
      for (const std::string_view name : names) {
        if (!is_at(i + 1, name) || !is_at(i + 1 + name.size(), " ")) continue;
        next_ += text_[i];
        next_ += ' ';
        next_ += name;
        next_ += ' ';
        return 2 + name.size();
      }
      return 0;
    });
  }

  void contractions() {
    // (?i)\b(first)(second)\b for each pair; nothing that they make is another one of them.
    static constexpr std::string_view kPairs[][2] = {{"can", "not"}, {"d", "'ye"},  {"gim", "me"},
                                                     {"gon", "na"},  {"got", "ta"}, {"lem", "me"},
                                                     {"more", "'n"}, {"wan", "na"}};
    pass("cCdDgGlLmMwW", [&](size_t i) -> size_t {
      if (is_word_before(i)) return 0;
      for (const auto& [first, second] : kPairs) {
        const size_t a = bytes_ignoring_case(i, first);
        const size_t b = a == 0 ? 0 : bytes_ignoring_case(i + a, second);
        if (b == 0 || is_word_at(i + a + b)) continue;
        if (first == "wan" && !is_space_at(i + a + b)) continue;  // (?=\s) in place of \b
        put_padded(i, a);
        next_.append(text_, i + a, b);
        next_ += ' ';
        return a + b;
      }
      return 0;
    });
    if (text_.find('\'') == std::string::npos) return;
    split_behind_space("'t", "is");
    split_behind_space("'t", "was");
  }

  // (?i)␣(first)(second)\b
  void split_behind_space(std::string_view first, std::string_view second) {
    pass(" ", [&](size_t i) -> size_t {
      const size_t a = bytes_ignoring_case(i + 1, first);
      const size_t b = a == 0 ? 0 : bytes_ignoring_case(i + 1 + a, second);
      if (b == 0 || is_word_at(i + 1 + a + b)) return 0;
      put_padded(i + 1, a);
      next_.append(text_, i + 1 + a, b);
      next_ += ' ';
      return 1 + a + b;
    });
  }

  bool is_space_at(size_t i) const {
    return i < text_.size() && text::has(text::decode(text_.data() + i), text::kSpace);
  }
  bool is_word_at(size_t i) const {
    return i < text_.size() && text::has(text::decode(text_.data() + i), text::kWordCharacter);
  }
  bool is_word_before(size_t i) const {
    return i != 0 && text::has(text::decode(text::previous_character(text_.data() + i)),
                               text::kWordCharacter);
  }

  // Bytes of `word`, lower-case ASCII, at i by Python's re.IGNORECASE; 0: it is not there. Three
  // more characters fold to ASCII letters: İ and ı to i, ſ to s (and the Kelvin sign to k, which we
  // lack).
  size_t bytes_ignoring_case(size_t i, std::string_view word) const {
    const size_t begin = i;
    for (const char letter : word) {
      if (i == text_.size()) return 0;
      const char32_t code = text::decode(text_.data() + i);
      const bool fits = code < 0x80
                            ? (code | (letter >= 'a' ? 0x20 : 0)) == static_cast<char32_t>(letter)
                            : (letter == 'i' && (code == 0x130 || code == 0x131)) ||
                                  (letter == 's' && code == 0x17F);
      if (!fits) return 0;
      i += text::character_bytes(text_[i]);
    }
    return i - begin;
  }

  std::string text_, next_;
  ByteSet present_;  // bytes that text_ may have
};

}  // namespace

void NltkSplitter::words(std::string_view text, WordList& words) const {
  words.clear();
  std::vector<Punkt::Span> spans;
  punkt_.sentences(text, spans);
  Treebank treebank;
  for (const auto [begin, end] : spans)
    treebank.append(text.substr(begin, end - begin), words.rewritten);
  std::string_view rest = words.rewritten, word;
  while (text::next_word(rest, word)) words.add(word);
}

void NltkSplitter::sentence_ends(std::string_view text, std::vector<size_t>& ends) const {
  ends.clear();
  std::vector<Punkt::Span> spans;
  punkt_.sentences(text, spans);
  for (const auto& span : spans) {
    if (!text::strip(text.substr(span.begin, span.end - span.begin)).empty())
      ends.push_back(span.end);
  }
}

}  // namespace ingot
