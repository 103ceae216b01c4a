#include "tokenizer/bpe/split_window.h"

#include <immintrin.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "tokenizer/bpe/split_scalar.h"
#include "tokenizer/unicode/unicode_classes.h"

#include "core/device/isa_begin.h"

namespace ingot::cpu::INGOT_ISA {
namespace {

constexpr size_t kWindow = 64;
// A boundary depends on at most this many bytes after it (a contraction), apart from its own run.
constexpr int kLookAhead = 3;

#if !defined(INGOT_ISA_generic)
using Vector = __m256i;
Vector load(const char* bytes) {
  return _mm256_loadu_si256(reinterpret_cast<const Vector*>(bytes));
}
Vector all(int byte) {
  return _mm256_set1_epi8(static_cast<char>(byte));
}
uint32_t high_bits(Vector v) {
  return static_cast<uint32_t>(_mm256_movemask_epi8(v));
}
Vector is_equal(Vector a, Vector b) {
  return _mm256_cmpeq_epi8(a, b);
}
Vector is_greater(Vector a, Vector b) {  // signed
  return _mm256_cmpgt_epi8(a, b);
}
Vector add(Vector a, Vector b) {
  return _mm256_add_epi8(a, b);
}
#else
using Vector = __m128i;
Vector load(const char* bytes) {
  return _mm_loadu_si128(reinterpret_cast<const Vector*>(bytes));
}
Vector all(int byte) {
  return _mm_set1_epi8(static_cast<char>(byte));
}
uint32_t high_bits(Vector v) {
  return static_cast<uint32_t>(_mm_movemask_epi8(v));
}
Vector is_equal(Vector a, Vector b) {
  return _mm_cmpeq_epi8(a, b);
}
Vector is_greater(Vector a, Vector b) {  // signed
  return _mm_cmpgt_epi8(a, b);
}
Vector add(Vector a, Vector b) {
  return _mm_add_epi8(a, b);
}
#endif

// The window's bytes in registers; each question gives one bit a byte.
class Block {
 public:
  explicit Block(const char* bytes) {
    for (size_t i = 0; i < kParts; ++i) part_[i] = load(bytes + i * sizeof(Vector));
  }
  uint64_t non_ascii() const {
    uint64_t bits = 0;
    for (size_t i = 0; i < kParts; ++i) bits |= placed(part_[i], i);
    return bits;
  }
  uint64_t equal(char c) const {
    uint64_t bits = 0;
    for (size_t i = 0; i < kParts; ++i) bits |= placed(is_equal(part_[i], all(c)), i);
    return bits;
  }
  // Bytes in [first, first + count): one signed comparison once the range is moved to the bottom of
  // the signed bytes.
  uint64_t in_range(char first, int count) const {
    uint64_t bits = 0;
    for (size_t i = 0; i < kParts; ++i) {
      bits |= placed(is_greater(all(-128 + count), add(part_[i], all(-128 - first))), i);
    }
    return bits;
  }

 private:
  static constexpr size_t kParts = kWindow / sizeof(Vector);
  static uint64_t placed(Vector v, size_t part) {
    return uint64_t{high_bits(v)} << (part * sizeof(Vector));
  }
  Vector part_[kParts];
};

constexpr uint64_t low_bits(int count) {
  return count >= 64 ? ~uint64_t{0} : (uint64_t{1} << count) - 1;
}
// Those of bytes [first, end), and that of one; none beyond the window.
uint64_t bits_between(int first, int end) {
  return low_bits(end) & ~low_bits(first);
}
uint64_t bit_of(int at) {
  return bits_between(at, at + 1);
}

// Bit i is byte i. All bytes of a character have its class. Bits from `size` on mean nothing.
struct Window {
  const char* bytes;
  int size;
  uint64_t letter, number, space, other;
  uint64_t space20, line_break;
  uint64_t upper, lower;
  uint64_t continuation = 0;  // bytes that are not the first of their character
};

template <Split split>
constexpr bool kSplitsDigits = split != Split::Gpt2;

// The first bytes of Han characters and Hangul syllables, as far as whole ranges of lead bytes are
// letters without case: U+4E00 to U+9FFF and U+B000 to U+CFFF.
uint64_t han_and_hangul(const Block& block) {
  const uint64_t continuation = block.in_range('\x80', 64);
  const uint64_t from_4e00 = block.equal('\xE4') & block.in_range('\xB8', 8) >> 1;
  const uint64_t lead = from_4e00 | block.in_range('\xE5', 5) | block.in_range('\xEB', 2);
  return lead & continuation >> 1 & continuation >> 2;
}

// Puts the characters beyond ASCII into the masks, up to the first that they cannot express.
template <Split split>
void add_non_ascii(Window& window, const Block& block, uint64_t non_ascii) {
  const uint64_t han = han_and_hangul(block) & non_ascii;
  window.continuation = (han << 1 | han << 2) & non_ascii;
  window.letter |= (han | window.continuation);
  for (uint64_t rest = non_ascii & ~han & ~window.continuation; rest != 0;) {
    const int at = std::countr_zero(rest);
    const Character c = first_character({window.bytes + at, kWindow - static_cast<size_t>(at)});
    const bool cut_off = c.size == 1 && at > window.size - 4;  // invalid, or cut by the window
    const bool inexpressible = (c.classes & kSpace) ||
                               (kSplitsDigits<split> && (c.classes & kNumber)) ||
                               (split == Split::O200k && (c.classes & kMark));
    if (cut_off || inexpressible || at + static_cast<int>(c.size) > window.size) {
      window.size = std::min(window.size, at);
      return;
    }
    const uint64_t bits = low_bits(static_cast<int>(c.size)) << at;
    window.continuation |= bits & (bits << 1);
    if (c.classes & kLetter) window.letter |= bits;
    if (c.classes & kNumber) window.number |= bits;
    if (c.classes & kUpper) window.upper |= bits;
    if (c.classes & kLower) window.lower |= bits;
    rest &= ~bits;
  }
}

template <Split split>
Window classify(const char* bytes, size_t size) {
  const Block block(bytes);
  Window window;
  window.bytes = bytes;
  window.size = static_cast<int>(size);
  window.upper = block.in_range('A', 26);
  window.lower = block.in_range('a', 26);
  window.letter = window.upper | window.lower;
  window.number = block.in_range('0', 10);
  window.space20 = block.equal(' ');
  window.space = window.space20 | block.in_range('\t', 5);
  window.line_break = split == Split::Gpt2 ? 0 : block.equal('\n') | block.equal('\r');
  if (const uint64_t non_ascii = block.non_ascii() & low_bits(window.size); non_ascii != 0) {
    add_non_ascii<split>(window, block, non_ascii);
  }
  window.other = ~(window.letter | window.number | window.space);
  return window;
}

uint64_t starts_of(uint64_t runs) {
  return runs & ~(runs << 1);
}

// Size of the contraction at window.bytes[at], an apostrophe; 0 where there is none.
template <bool any_case>
int contraction_size(const char* at) {
  const auto lower = [](char c) { return any_case ? static_cast<char>(c | 0x20) : c; };
  const char first = lower(at[1]), second = lower(at[2]);
  if (first == 's' || first == 't' || first == 'm' || first == 'd') return 2;
  if (any_case && at[1] == '\xC5' && at[2] == '\xBF') return 3;  // ſ
  const bool two = (first == 'l' && second == 'l') || (first == 'v' && second == 'e') ||
                   (first == 'r' && second == 'e');
  return two ? 3 : 0;
}

uint64_t gpt2_boundaries(const Window& w, uint64_t apostrophe) {
  const uint64_t after_space20 = w.space20 << 1;
  uint64_t boundaries = starts_of(w.letter) | starts_of(w.number) | starts_of(w.other);
  boundaries &= ~after_space20;
  boundaries |= starts_of(w.space) | (w.space & ~(w.space >> 1));  // the last space stands apart
  for (uint64_t rest = apostrophe & boundaries; rest != 0; rest &= rest - 1) {
    const int at = std::countr_zero(rest);
    if (const int size = contraction_size<false>(w.bytes + at); size != 0) {
      boundaries &= ~bits_between(at + 1, at + size);
      boundaries |= bit_of(at + size);
    }
  }
  return boundaries;
}

template <int digits>
uint64_t digit_groups(uint64_t number) {
  if constexpr (digits == 1) return number;
  uint64_t in_next_group = number;  // the last `digits` + 1 bytes are digits
  for (int i = 1; i <= digits; ++i) in_next_group &= number << i;
  uint64_t groups = starts_of(number);
  for (uint64_t next = groups; next != 0;) {
    next = (next << digits) & in_next_group;
    groups |= next;
  }
  return groups;
}

// Where a run of blanks begins after a line break, and no other line break follows it: the piece
// that ends with the line break ends here.
uint64_t blanks_after_last_break(uint64_t blank, uint64_t line_break, uint64_t free_break) {
  uint64_t starts = blank & (free_break << 1);
  if (starts == 0) return 0;
  const uint64_t ends = (blank + starts) & ~blank;  // adding carries through a run to its end
  for (uint64_t rest = ends & line_break; rest != 0; rest &= rest - 1) {
    const uint64_t before = starts & low_bits(std::countr_zero(rest));
    starts &= ~(uint64_t{1} << (63 - std::countl_zero(before)));
  }
  return starts;
}

// All patterns after GPT-2's; what differs is the digits, and how O200k ends words. Boundaries
// after `limit`, which may be lowered, are not certain.
template <Split split, int digits>
uint64_t boundaries_of(const Window& w, uint64_t apostrophe, uint64_t slash, int& limit) {
  uint64_t other = w.other;
  const uint64_t tail = split == Split::O200k ? w.line_break | slash : w.line_break;
  const uint64_t tail_starts = w.line_break & (other << 1);
  const uint64_t carried = tail + tail_starts;
  const uint64_t absorbed = tail & ~carried;  // line breaks that belong to the others before them
  if constexpr (split == Split::O200k) {
    // Two tails in one run (";\n/\n"): the sum does not tell them apart.
    if (carried & tail_starts) limit = std::min(limit, std::countr_zero(tail_starts));
    other &= ~absorbed;
  }
  const uint64_t space = w.space & ~absorbed;
  const uint64_t blank = w.space & ~w.line_break;
  const uint64_t after_space20 = w.space20 << 1;

  uint64_t boundaries =
      starts_of(space) | (blank & ~(w.space >> 1)) | digit_groups<digits>(w.number);
  boundaries |= blanks_after_last_break(blank, w.line_break, w.line_break & ~absorbed);
  const uint64_t other_starts = starts_of(other) & ~after_space20;
  boundaries |= other_starts;
  // A letter joins the blank before it, or the one other that is a piece so far.
  const uint64_t after_one_other = ((other_starts << 1) + w.continuation) & ~w.continuation;
  boundaries |= starts_of(w.letter) & ~(blank << 1) & ~after_one_other;

  if constexpr (split == Split::O200k) {
    const uint64_t first_upper = w.upper & ~w.continuation;
    boundaries |= first_upper & (w.lower << 1);
    // A capital after a letter without case: where the word ends depends on what follows it.
    const uint64_t caseless = w.letter & ~w.upper & ~w.lower;
    const uint64_t open = first_upper & (caseless << 1);
    if (open != 0) limit = std::min(limit, std::countr_zero(open) - 1);
  }
  const uint64_t candidates = split == Split::O200k ? apostrophe & other_starts & (w.letter << 1)
                                                    : apostrophe & other_starts;
  int last_end = -1;
  for (uint64_t rest = candidates; rest != 0; rest &= rest - 1) {
    const int at = std::countr_zero(rest);
    if (split == Split::O200k && at == last_end) continue;  // it follows a contraction, not a word
    if (const int size = contraction_size<true>(w.bytes + at); size != 0) {
      const int first = split == Split::O200k ? at : at + 1;
      boundaries &= ~bits_between(first, at + size);
      boundaries |= bit_of(at + size);
      last_end = at + size;
    }
  }
  return boundaries;
}

// The last byte at which a boundary is certain: neither inside the run that reaches the window's
// end, which may continue, nor within the look-ahead.
int certain_limit(const Window& w) {
  const uint64_t last = uint64_t{1} << (w.size - 1);
  uint64_t run = w.other;
  if (w.letter & last) run = w.letter;
  if (w.number & last) run = w.number;
  if (w.space & last) run = w.space;
  const uint64_t outside = ~run & low_bits(w.size);
  const int run_start = 64 - std::countl_zero(outside);
  return std::min(run_start, w.size - kLookAhead);
}

// Bits where pieces start, other than 0; all of them certain. `bytes` has kWindow readable bytes.
template <Split split, int digits>
uint64_t window_boundaries(const char* bytes, size_t size) {
  const Window w = classify<split>(bytes, size);
  if (w.size <= kLookAhead) return 0;
  int limit = certain_limit(w);
  // Only contractions that end inside the window count.
  const Block block(bytes);
  const uint64_t apostrophe = block.equal('\'') & low_bits(w.size - kLookAhead + 1);
  uint64_t boundaries;
  if constexpr (split == Split::Gpt2) {
    boundaries = gpt2_boundaries(w, apostrophe);
  } else {
    const uint64_t slash = split == Split::O200k ? block.equal('/') : 0;
    boundaries = boundaries_of<split, digits>(w, apostrophe, slash, limit);
  }
  return limit < 1 ? 0 : boundaries & low_bits(limit + 1) & ~uint64_t{1};
}

template <Split split, int digits>
size_t split_all_windows(std::string_view text, std::span<uint32_t> ends) {
  size_t at = 0, count = 0;
  while (at < text.size() && count + kWindow <= ends.size()) {
    const size_t left = text.size() - at;
    uint64_t boundaries;
    if (left >= kWindow) {
      boundaries = window_boundaries<split, digits>(text.data() + at, kWindow);
    } else {
      char padded[kWindow] = {};
      std::memcpy(padded, text.data() + at, left);
      boundaries = window_boundaries<split, digits>(padded, left);
    }
    if (boundaries == 0) {
      at += first_piece(split, text.substr(at));
      ends[count++] = static_cast<uint32_t>(at);
      continue;
    }
    const auto base = static_cast<uint32_t>(at);
    at += static_cast<size_t>(63 - std::countl_zero(boundaries));
    for (; boundaries != 0; boundaries &= boundaries - 1) {
      ends[count++] = base + static_cast<uint32_t>(std::countr_zero(boundaries));
    }
  }
  return count;
}

}  // namespace

size_t split_windows(Split split, std::string_view text, std::span<uint32_t> ends) {
  switch (split) {
    case Split::None:
      break;
    case Split::Gpt2:
      return split_all_windows<Split::Gpt2, 0>(text, ends);
    case Split::Cl100k:
      return split_all_windows<Split::Cl100k, 3>(text, ends);
    case Split::Llama3:
      return split_all_windows<Split::Llama3, 3>(text, ends);
    case Split::Qwen2:
      return split_all_windows<Split::Qwen2, 1>(text, ends);
    case Split::Nanochat:
      return split_all_windows<Split::Nanochat, 2>(text, ends);
    case Split::O200k:
      return split_all_windows<Split::O200k, 3>(text, ends);
  }
  if (text.empty()) return 0;
  ends[0] = static_cast<uint32_t>(text.size());
  return 1;
}

}  // namespace ingot::cpu::INGOT_ISA

#include "core/device/isa_end.h"
