#include "tokenizer/sentencepiece/normalizer.h"

#include <emmintrin.h>

#include <bit>

#include "core/text/utf8.h"

namespace ingot {
namespace {

// As text::decode_first(text.substr(at)), but quick for most of the characters of three bytes.
text::Decoded character_at(std::string_view text, size_t at) {
  const auto byte = [&](size_t i) {
    return static_cast<uint32_t>(static_cast<uint8_t>(text[at + i]));
  };
  if (at + 3 <= text.size() && byte(0) > 0xE0 &&
      byte(0) < 0xED) {  // no overlong form, no surrogate
    if ((byte(1) & 0xC0) == 0x80 && (byte(2) & 0xC0) == 0x80) {
      return {(byte(0) & 0xF) << 12 | (byte(1) & 0x3F) << 6 | (byte(2) & 0x3F), 3};
    }
  }
  return text::decode_first(text.substr(at));
}

}  // namespace

std::string with_spaces(std::string_view text) {
  std::string result;
  for (size_t mark; (mark = text.find(kSpaceMark)) != std::string_view::npos;) {
    result.append(text, 0, mark) += ' ';
    text.remove_prefix(mark + kSpaceMark.size());
  }
  return result.append(text);
}

SentencePieceNormalizer::SentencePieceNormalizer(const SentencePieceRules& rules,
                                                 bool whitespace_is_suffix,
                                                 const std::vector<std::string_view>& verbatim,
                                                 std::string_view origin)
    : add_dummy_prefix_(rules.add_dummy_prefix),
      whitespace_is_suffix_(whitespace_is_suffix),
      collapse_spaces_(rules.remove_extra_whitespaces),
      escape_spaces_(rules.escape_whitespaces) {
  if (!rules.charsmap.empty()) charsmap_ = CharsMap(rules.charsmap, origin);
  std::vector<std::pair<std::string_view, int32_t>> entries;
  for (const std::string_view text : verbatim) entries.emplace_back(text, 0);
  verbatim_ = DoubleArray(std::move(entries));

  const auto [replaced, second] = charsmap_.characters();
  plain_ = ~replaced;
  second_ = second;
  if (escape_spaces_) plain_.reset(text::decode_first(kSpaceMark).code_point);
  for (const std::string_view text : verbatim) {
    const uint32_t first = text::decode_first(text).code_point;
    if (first < CharsMap::kBasicPlane) plain_.reset(first);
  }
  for (size_t c = 0; c < 0x80; ++c) {
    simple_ascii_ = simple_ascii_ && !second_[c] && (plain_[c] || c < ' ' || c == 0x7F);
  }
}

SentencePieceNormalizer::Step SentencePieceNormalizer::step(std::string_view text) const {
  if (const size_t size = verbatim_.longest_prefix(text); size > 0) {
    return {text.substr(0, size), size};
  }
  const CharsMap::Match match = charsmap_.longest(text);
  if (match.size > 0) return {match.replacement, match.size};
  const text::Decoded c = text::decode_first(text);
  return {text::is_invalid(c) ? text::kReplacementCharacter : text.substr(0, c.size), c.size};
}

// The end of the text from `begin` on that stays as it is.
size_t SentencePieceNormalizer::plain_end(std::string_view text, size_t begin,
                                          bool after_space) const {
  size_t at = begin, last = begin;  // where the last character begins
  while (at < text.size()) {
    if (simple_ascii_ && static_cast<uint8_t>(text[at]) < 0x80) {
      const size_t end = simple_end(text, at, after_space);
      if (end > at) {
        after_space = collapse_spaces_ && text[end - 1] == ' ';
        last = end - 1;
        at = end;
        continue;
      }
    }
    const text::Decoded c = character_at(text, at);
    if (c.code_point >= CharsMap::kBasicPlane || second_[c.code_point]) return last;
    if (!plain_[c.code_point] || text::is_invalid(c) || (after_space && c.code_point == ' ')) break;
    after_space = collapse_spaces_ && c.code_point == ' ';
    last = at;
    at += c.size;
  }
  return at;
}

// The same for printable ASCII alone.
size_t SentencePieceNormalizer::simple_end(std::string_view text, size_t begin,
                                           bool after_space) const {
  size_t at = begin;
  uint32_t space = after_space ? 1 : 0;  // whether the last character is a space to collapse with
  for (; at + 16 <= text.size(); at += 16) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(text.data() + at));
    // As signed numbers, bytes beyond ASCII are below zero.
    const __m128i other = _mm_or_si128(_mm_cmplt_epi8(bytes, _mm_set1_epi8(' ')),
                                       _mm_cmpeq_epi8(bytes, _mm_set1_epi8(0x7F)));
    auto stops = static_cast<uint32_t>(_mm_movemask_epi8(other));
    if (collapse_spaces_) {
      const auto spaces =
          static_cast<uint32_t>(_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, _mm_set1_epi8(' '))));
      stops |= spaces & (spaces << 1 | space);
      space = spaces >> 15;
    }
    if (stops != 0) return at + static_cast<size_t>(std::countr_zero(stops));
  }
  for (; at < text.size(); ++at) {
    const char c = text[at];
    if (c < ' ' || c == 0x7F || (c == ' ' && space != 0)) break;
    space = collapse_spaces_ && c == ' ' ? 1 : 0;
  }
  return at;
}

void SentencePieceNormalizer::normalize(std::string_view text, std::string& normalized) const {
  normalized.clear();
  size_t at = 0;
  while (collapse_spaces_ && at < text.size()) {
    const Step s = step(text.substr(at));
    if (s.text != " ") break;
    at += s.consumed;
  }
  if (at == text.size()) return;
  normalized.reserve(text.size() + text.size() / 8 + 16);
  if (add_dummy_prefix_ && !whitespace_is_suffix_) normalized += ' ';

  bool after_space = collapse_spaces_;  // spaces are dropped here
  while (at < text.size()) {
    if (const size_t end = plain_end(text, at, after_space); end > at) {
      normalized.append(text, at, end - at);
      after_space = collapse_spaces_ && text[end - 1] == ' ';
      at = end;
      continue;
    }
    const Step s = step(text.substr(at));
    at += s.consumed;
    std::string_view rest = s.text;
    while (after_space && rest.starts_with(' ')) rest.remove_prefix(1);
    if (rest.empty()) continue;
    after_space = collapse_spaces_ && rest.ends_with(' ');
    if (escape_spaces_ && rest.find(kSpaceMark) != std::string_view::npos) {
      normalized += with_spaces(rest);
    } else {
      normalized += rest;
    }
  }
  while (collapse_spaces_ && normalized.ends_with(' ')) normalized.pop_back();
  if (add_dummy_prefix_ && whitespace_is_suffix_) normalized += ' ';
}

}  // namespace ingot
