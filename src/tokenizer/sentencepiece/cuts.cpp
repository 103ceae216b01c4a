#include "tokenizer/sentencepiece/cuts.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "core/text/utf8.h"

namespace ingot {

struct PieceCuts::Runs {
  std::vector<std::array<uint8_t, 2>> ascii_pairs;
  // Hashes. The second set of pairs are those that are a piece.
  std::array<std::vector<uint64_t>, 2> pairs;
  std::array<std::vector<uint64_t>, 1> triples;

  explicit Runs(const std::vector<std::string>& pieces) {
    std::vector<uint32_t> characters;
    for (const std::string& piece : pieces) {
      const std::string padded = piece + std::string(kPadding, '\0');
      characters.clear();
      for (size_t at = 0; at < piece.size(); at += text::character_bytes(piece[at])) {
        characters.push_back(character_at(padded.data() + at));
      }
      for (size_t i = 0; i + 1 < characters.size(); ++i) {
        const uint32_t left = characters[i], right = characters[i + 1];
        if ((left | right) < 0x80) {
          ascii_pairs.push_back({static_cast<uint8_t>(left), static_cast<uint8_t>(right)});
        } else {
          pairs[0].push_back(hash_of(left, right));
          if (characters.size() == 2) pairs[1].push_back(pairs[0].back());
        }
        if (i > 0) triples[0].push_back(hash_of(characters[i - 1], left, right));
      }
    }
  }
};

template <size_t kSets>
PieceCuts::Filter<kSets>::Filter(const std::array<std::vector<uint64_t>, kSets>& hashes) {
  size_t size = 8;
  for (const auto& set : hashes) size = std::max(size, set.size());
  const size_t num_bits = std::bit_ceil(size * 8);
  shift_ = 64 - std::countr_zero(num_bits);
  words_.resize(num_bits / 64);
  for (size_t set = 0; set < kSets; ++set) {
    for (const uint64_t hash : hashes[set]) {
      const uint64_t bit = hash >> shift_;
      words_[bit / 64][set] |= uint64_t{1} << bit % 64;
    }
  }
}

uint32_t PieceCuts::character_at(const char* text) {
  uint32_t bytes;
  std::memcpy(&bytes, text, sizeof bytes);
  return bytes & ~uint32_t{0} >> (32 - 8 * text::character_bytes(*text));
}

uint64_t PieceCuts::hash_of(uint32_t a, uint32_t b, uint32_t c) {
  return (a + b * 0xD1B54A32D192ED03u + c * 0x8CB92BA72F3D8DD7u) * 0x9E3779B97F4A7C15u;
}

PieceCuts::PieceCuts(const std::vector<std::string>& pieces, bool before_spaces)
    : PieceCuts(Runs(pieces), before_spaces) {}

PieceCuts::PieceCuts(const Runs& runs, bool before_spaces)
    : pairs_(runs.pairs), triples_(runs.triples), always_cut_before_(before_spaces ? ' ' : -1) {
  for (const auto [left, right] : runs.ascii_pairs) {
    ascii_pairs_[left][right / 64] |= uint64_t{1} << right % 64;
  }
}

size_t PieceCuts::cut(std::string_view text, size_t begin, std::span<size_t> ends) const {
  if (begin >= text.size()) return 0;
  size_t num_ends = 0, at = begin + text::character_bytes(text[begin]);
  uint32_t left = character_at(text.data() + begin);
  bool reached = false;  // whether a piece may reach over `left` to what follows it
  while (at < text.size() && num_ends < ends.size()) {
    ends[num_ends] = at;  // kept if it is a cut: where words end is hard to predict
    const auto byte = static_cast<uint8_t>(text[at]);
    if ((left | byte) < 0x80) [[likely]] {
      num_ends += (ascii_pairs_[left][byte / 64] >> byte % 64 & 1) ^ 1;
      left = byte;
      reached = true;
      ++at;
      continue;
    }
    const uint32_t right = character_at(text.data() + at);
    const uint64_t pair = hash_of(left, right);
    at += text::character_bytes(text[at]);
    // Without branches: which it is cannot be predicted, and all three are looked up together. What
    // follows the text is in no piece.
    const bool reaches = triples_.may_hold(hash_of(left, right, character_at(text.data() + at)));
    const unsigned together = static_cast<unsigned>(pairs_.may_hold(pair)) &
                              (static_cast<unsigned>(reached) | static_cast<unsigned>(reaches) |
                               static_cast<unsigned>(pairs_.may_hold<1>(pair)));
    num_ends += (together & static_cast<unsigned>(byte != always_cut_before_)) ^ 1;
    left = right;
    reached = reaches;
  }
  if (num_ends < ends.size()) ends[num_ends++] = text.size();
  return num_ends;
}

}  // namespace ingot
