// Where normalised text can be cut without changing its pieces.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ingot {

// Where no piece can lie across, what is left and right is encoded independently. A piece across
// the boundary of two characters holds both; if it is longer, also the one before or the one after.
// So text is cut where no piece holds these characters side by side: in text with spaces before
// every word and around punctuation, in Chinese or Japanese every two or three characters.
class PieceCuts {
 public:
  static constexpr size_t kPadding = 7;  // zeros after the text that cut() is given

  // `before_spaces`: cut before every space, which no piece may then reach over.
  PieceCuts(const std::vector<std::string>& pieces, bool before_spaces);

  // Ends of the parts of `text` from `begin` on, as many as `ends` has room for; the last part of
  // the text ends with it. Returns their number, 0 only at the end.
  size_t cut(std::string_view text, size_t begin, std::span<size_t> ends) const;

 private:
  // Sets that may hold more than was put in: a bit for each of 8 hashes a member of the largest. A
  // place may then be taken for uncuttable that is not. The bits of one hash lie together.
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

  // Pairs of ASCII that stand in some piece; other pairs, and those that are a piece; three
  // characters that stand in some piece.
  std::array<std::array<uint64_t, 2>, 128> ascii_pairs_{};
  Filter<2> pairs_;
  Filter<1> triples_;
  int always_cut_before_;  // a byte; -1: none
};

}  // namespace ingot
