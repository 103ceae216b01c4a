// Finds positions where normalised text can be cut without changing its pieces.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ingot {

// Text can be cut where no piece crosses: both sides are encoded independently. A piece that
// crosses the boundary of two characters contains both; if it is longer, also the character before
// or after. So text is cut where no piece contains these characters side by side: before every word
// and around punctuation in text with spaces, every two or three characters in Chinese or Japanese.
class PieceCuts {
 public:
  static constexpr size_t kPadding = 7;  // zeros that must follow the text given to cut()

  // `before_spaces`: cut before every space; no piece may then cross a space.
  PieceCuts(const std::vector<std::string>& pieces, bool before_spaces);

  // Ends of the parts of `text` from `begin` on, up to the size of `ends`; the last part ends with
  // the text. Returns their number, 0 only at the end.
  size_t cut(std::string_view text, size_t begin, std::span<size_t> ends) const;

 private:
  // Approximate sets, like Bloom filters: 8 hash bits per member of the largest set. A false
  // positive only forgoes a cut. The bits of all sets for one hash are adjacent.
  template <size_t kSets>
  class Filter {
   public:
    explicit Filter(const std::array<std::vector<uint64_t>, kSets>& hashes);
    template <size_t kSet = 0>
    bool may_hold(uint64_t hash) const {
      const uint64_t bit = hash >> shift_;
      return (words_[bit / 64][kSet] >> bit % 64 & 1) != 0;
    }

   private:
    int shift_;
    std::vector<std::array<uint64_t, kSets>> words_;
  };
  struct Runs;  // of characters, in pieces

  PieceCuts(const Runs& runs, bool before_spaces);
  // The character's bytes as a number; three more can be read.
  static uint32_t character_at(const char* text);
  static uint64_t hash_of(uint32_t a, uint32_t b, uint32_t c = 0);

  // ASCII pairs that occur in some piece; other pairs, split by whether they are a piece; three
  // characters that occur in some piece.
  std::array<std::array<uint64_t, 2>, 128> ascii_pairs_{};
  Filter<2> pairs_;
  Filter<1> triples_;
  int always_cut_before_;  // a byte; -1: none
};

}  // namespace ingot
