#include "ingest/clean/splitters/split_spacy.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <utility>

#include "core/text/python_text.h"
#include "core/text/unicode.h"
#include "core/text/utf8.h"
#include "ingest/clean/splitters/spacy_affixes.h"
#include "ingest/clean/splitters/spacy_exceptions.h"

namespace ingot {
namespace {

// What the bytes of a chunk say about it. A stop is whitespace, or the first byte of a character
// that may be whitespace.
enum ByteKind : uint8_t { kLetter = 1, kOther = 2, kHigh = 4, kStop = 8 };

std::array<uint8_t, 256> byte_kinds() {
  std::array<uint8_t, 256> kinds;
  for (char32_t code = 0; code < 256; ++code) {
    kinds[code] = code >= 0x80 ? kHigh : text::has(code, text::kAlpha) ? kLetter : kOther;
  }
  for (char32_t code = 0; code < text::kCodePoints; ++code) {
    if (!text::has(code, text::kSpace)) continue;
    std::string bytes;
    text::append_character(bytes, code);
    kinds[static_cast<unsigned char>(bytes[0])] |= kStop;
  }
  return kinds;
}

struct Span {
  size_t begin, end;  // of words
};

class Tokenizer {
 public:
  explicit Tokenizer(std::vector<Word>& words) : words_(words) {}

  void run(std::string_view text) {
    const char *p = text.data(), *end = p + text.size();
    while (p != end) {
      const char* begin = p;
      p = skip_letters(p, end);
      const auto letters = static_cast<size_t>(p - begin);
      unsigned seen = 0;
      while (p != end && !is_space(p)) seen |= kind_of(*p++);
      if (p != begin) chunk({begin, static_cast<size_t>(p - begin)}, letters, seen);
      if (p != end) p += text::character_bytes(*p);
    }
    if (must_rejoin_) rejoin();
  }

 private:
  // Behind the ASCII letters from p on. Eight at a time, since where a word ends is what a branch
  // predictor cannot know.
  const char* skip_letters(const char* p, const char* end) const {
    constexpr uint64_t kOnes = 0x0101010101010101u, kHighBits = 0x8080808080808080u;
    for (; end - p >= 8; p += 8) {
      uint64_t bytes;
      std::memcpy(&bytes, p, 8);
      const uint64_t low = (bytes | 0x20 * kOnes) & ~kHighBits;
      const uint64_t from_a = low + (0x80 - 'a') * kOnes, above_z = low + (0x7F - 'z') * kOnes;
      const uint64_t others = ~(from_a & ~above_z & ~bytes) & kHighBits;
      if (others != 0) return p + first_byte(others);
    }
    while (p != end && kind_of(*p) == kLetter) ++p;
    return p;
  }
  // Of a little-endian word, the first byte that is not zero.
  static int first_byte(uint64_t bits) {
    static_assert(std::endian::native == std::endian::little);
    return std::countr_zero(bits) / 8;
  }

  unsigned kind_of(char byte) const { return kinds_[static_cast<unsigned char>(byte)]; }
  bool is_space(const char* p) const {
    return (kind_of(*p) & kStop) != 0 && text::has(text::decode(p), text::kSpace);
  }

  void put(std::string_view token, bool is_ascii) {
    words_.push_back({token.data(), static_cast<uint32_t>(token.size()),
                      static_cast<uint32_t>(is_ascii ? token.size() : text::length(token))});
  }
  void put_pieces(std::string_view whole, std::span<const std::string_view> pieces, bool is_ascii) {
    for (const std::string_view piece : pieces) {
      put(whole.substr(0, piece.size()), is_ascii);
      whole.remove_prefix(piece.size());
    }
  }

  // `letters` ASCII letters and then bytes of the kinds `seen`.
  void chunk(std::string_view rest, size_t letters, unsigned seen) {
    const bool is_ascii = (seen & kHigh) == 0;
    const auto pieces = exceptions_.pieces(rest);
    if (!pieces.empty()) return put_pieces(rest, pieces, is_ascii);
    if (letters == rest.size()) return put(rest, true);
    if (letters != 0 && letters + 1 == rest.size() && spacy_suffix_bytes(rest) == 1) {
      return put_word_and_mark(rest);
    }
    const size_t first_word = words_.size();
    suffixes_.clear();
    rest = take_affixes(rest, is_ascii);
    if (!rest.empty()) put_middle(rest, is_ascii);
    for (auto suffix = suffixes_.rbegin(); suffix != suffixes_.rend(); ++suffix) {
      put(*suffix, is_ascii);
    }
    look_for_sequences(first_word);
  }

  // The commonest chunk that is not a word alone: letters and a mark that is a suffix. They have no
  // other affixes.
  void put_word_and_mark(std::string_view chunk) {
    const std::string_view word = chunk.substr(0, chunk.size() - 1);
    const size_t first_word = words_.size();
    const auto pieces = exceptions_.pieces(word);
    if (pieces.empty()) {
      put(word, true);
    } else {
      put_pieces(word, pieces, true);
    }
    put(chunk.substr(chunk.size() - 1), true);
    // Without pieces, the last pass could only join the chunk as a whole, which is no exception.
    if (!pieces.empty()) look_for_sequences(first_word);
  }

  // Prefixes are put out, suffixes kept; what remains is whole, an exception, or has only infixes.
  std::string_view take_affixes(std::string_view rest, bool is_ascii) {
    size_t last_size = 0;
    while (!rest.empty() && rest.size() != last_size && !exceptions_.has(rest)) {
      last_size = rest.size();
      const size_t prefix = spacy_prefix_bytes(rest);
      if (prefix != 0 && exceptions_.has(rest.substr(prefix))) {
        put(rest.substr(0, prefix), is_ascii);
        return rest.substr(prefix);
      }
      const size_t suffix = spacy_suffix_bytes(rest.substr(prefix));
      if (suffix != 0 && exceptions_.has(rest.substr(0, rest.size() - suffix))) {
        suffixes_.push_back(rest.substr(rest.size() - suffix));
        return rest.substr(0, rest.size() - suffix);
      }
      if (prefix != 0) put(rest.substr(0, prefix), is_ascii);
      if (suffix != 0) suffixes_.push_back(rest.substr(rest.size() - suffix));
      rest = rest.substr(prefix, rest.size() - prefix - suffix);
    }
    return rest;
  }

  void put_middle(std::string_view rest, bool is_ascii) {
    const auto pieces = exceptions_.pieces(rest);
    if (!pieces.empty()) return put_pieces(rest, pieces, is_ascii);
    if (spacy_is_url(rest)) return put(rest, is_ascii);
    size_t start = 0;
    for (SpacyInfix infix = spacy_next_infix(rest, 0); infix.begin != infix.end;
         infix = spacy_next_infix(rest, infix.end)) {
      if (infix.begin == 0) continue;
      if (infix.begin != start) put(rest.substr(start, infix.begin - start), is_ascii);
      put(rest.substr(infix.begin, infix.end - infix.begin), is_ascii);
      start = infix.end;
    }
    if (start != rest.size()) put(rest.substr(start), is_ascii);
  }

  // Calls found(end) for each sequence of the last pass that begins with word `begin`.
  template <class Found>
  void sequences_from(size_t begin, size_t end, Found found) const {
    int node = exceptions_.root();
    for (size_t i = begin; i < end; ++i) {
      if (i != begin && !follows(words_[i - 1], words_[i])) return;
      node = exceptions_.step(node, exceptions_.token(words_[i].view()));
      if (node == SpacyExceptions::kNowhere) return;
      if (exceptions_.is_end(node)) found(i + 1);
    }
  }

  // No whitespace token between them: they touch, or there is exactly one space.
  static bool follows(const Word& before, const Word& after) {
    const char* end = before.data + before.bytes;
    return end == after.data || (end + 1 == after.data && *end == ' ');
  }

  std::string_view text_of(Span span) const {
    const Word& last = words_[span.end - 1];
    const char* begin = words_[span.begin].data;
    return {begin, static_cast<size_t>(last.data + last.bytes - begin)};
  }

  // Is there a sequence within this chunk that the last pass would cut otherwise? Sequences across
  // spaces are no exceptions, so only these can change anything.
  void look_for_sequences(size_t first_word) {
    if (must_rejoin_) return;
    bool changes = false;
    for (size_t i = first_word; i + 1 < words_.size(); ++i) {
      sequences_from(i, words_.size(), [&](size_t end) {
        const auto pieces = exceptions_.pieces(text_of({i, end}));
        changes |= !pieces.empty() && !std::equal(pieces.begin(), pieces.end(),
                                                  words_.begin() + static_cast<std::ptrdiff_t>(i),
                                                  words_.begin() + static_cast<std::ptrdiff_t>(end),
                                                  [](std::string_view piece, const Word& word) {
                                                    return piece == word.view();
                                                  });
      });
    }
    must_rejoin_ = changes;
  }

  // The last pass: exceptions over several tokens, longest first, then leftmost. A sequence that
  // was turned down blocks later ones too, and so does one across a space, which is no exception.
  void rejoin() {
    std::vector<Span> found;
    for (size_t i = 0; i < words_.size(); ++i) {
      sequences_from(i, words_.size(), [&](size_t end) { found.push_back({i, end}); });
    }
    std::stable_sort(found.begin(), found.end(),
                     [](Span a, Span b) { return a.end - a.begin > b.end - b.begin; });
    std::vector<bool> taken(words_.size());
    std::vector<Span> chosen;
    for (const Span span : found) {
      if (!taken[span.begin] && !taken[span.end - 1]) chosen.push_back(span);
      for (size_t i = span.begin; i < span.end; ++i) taken[i] = true;
    }
    std::sort(chosen.begin(), chosen.end(), [](Span a, Span b) { return a.begin < b.begin; });

    std::vector<Word> old;
    old.swap(words_);
    const auto copy = [&](size_t begin, size_t end) {
      words_.insert(words_.end(), old.begin() + static_cast<std::ptrdiff_t>(begin),
                    old.begin() + static_cast<std::ptrdiff_t>(end));
    };
    size_t done = 0;
    for (const Span span : chosen) {
      copy(done, span.begin);
      done = span.end;
      const char* begin = old[span.begin].data;
      const Word& last = old[span.end - 1];
      const std::string_view whole(begin, static_cast<size_t>(last.data + last.bytes - begin));
      const auto pieces = exceptions_.pieces(whole);
      if (pieces.empty()) {
        copy(span.begin, span.end);
      } else {
        put_pieces(whole, pieces, false);
      }
    }
    copy(done, old.size());
  }

  static const std::array<uint8_t, 256>& kinds() {
    static const std::array<uint8_t, 256> table = byte_kinds();
    return table;
  }

  const std::array<uint8_t, 256>& kinds_ = kinds();
  const SpacyExceptions& exceptions_ = SpacyExceptions::english();
  std::vector<Word>& words_;
  std::vector<std::string_view> suffixes_;
  bool must_rejoin_ = false;
};

// What the sentencizer asks of a token.
struct Marks {
  bool ends_sentence;  // exactly one end mark
  bool is_punctuation;
};

Marks marks_of(const Word& word) {
  const char *p = word.data, *end = p + word.bytes;
  bool is_punctuation = true;
  while (p != end && is_punctuation)
    is_punctuation = text::has(text::next_character(p), text::kCategoryP);
  return {word.chars == 1 && text::has(text::decode(word.data), text::kSentenceEnd),
          is_punctuation};
}

}  // namespace

void SpacySplitter::words(std::string_view text, WordList& words) const {
  words.clear();
  Tokenizer(words.words).run(text);
}

void SpacySplitter::sentence_ends(std::string_view text, std::vector<size_t>& ends) const {
  ends.clear();
  std::vector<Word> words;
  Tokenizer(words).run(text);
  bool seen_end_mark = false;
  size_t end_of_last = 0;
  // Of a token that begins at `begin`; whitespace that is a token of its own begins a sentence too.
  const auto token = [&](Marks marks, size_t end) {
    if (seen_end_mark && !marks.is_punctuation && !marks.ends_sentence) {
      ends.push_back(end_of_last);
      seen_end_mark = false;
    } else if (marks.ends_sentence) {
      seen_end_mark = true;
    }
    end_of_last = end;
  };
  const auto whitespace = [&](size_t end) {
    const bool vanishes = end == end_of_last ||
                          (end_of_last != 0 && end == end_of_last + 1 && text[end_of_last] == ' ');
    if (!vanishes) token({false, false}, end);
  };
  for (const Word& word : words) {
    const auto begin = static_cast<size_t>(word.data - text.data());
    whitespace(begin);
    token(marks_of(word), begin + word.bytes);
  }
  whitespace(text.size());
  if (end_of_last != 0) ends.push_back(end_of_last);
}

}  // namespace ingot
