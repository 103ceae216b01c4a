// A priority queue of the pairs to be merged, most frequent first.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <vector>

namespace ingot {

// Left id in the upper half, right id in the lower: the order is that of (left, right).
using TokenPair = uint64_t;

inline TokenPair pair_of(uint32_t left, uint32_t right) {
  return static_cast<uint64_t>(left) << 32 | right;
}
inline uint32_t left_of(TokenPair pair) {
  return static_cast<uint32_t>(pair >> 32);
}
inline uint32_t right_of(TokenPair pair) {
  return static_cast<uint32_t>(pair);
}

struct WaitingPair {
  int64_t count;             // when it was pushed; it may have changed since
  TokenPair pair;            // of equal counts the smaller pair comes first
  const uint8_t* positions;  // its positions at that time (posting_arena.h)
};

// Counts are grouped by their number of binary digits, and only the group with the most digits is a
// heap. Almost all of the millions of pairs are rare; they are not moved before their turn.
class PairQueue {
 public:
  void push(const WaitingPair& entry) {
    const size_t level = std::bit_width(static_cast<uint64_t>(entry.count));
    top_ = std::max(top_, level);
    levels_[level].push_back(entry);
    if (level == top_) std::push_heap(levels_[top_].begin(), levels_[top_].end(), later);
  }

  // Takes the first pair; false if the queue is empty.
  bool pop(WaitingPair& entry) {
    while (levels_[top_].empty()) {
      if (top_ == 0) return false;
      --top_;
      std::make_heap(levels_[top_].begin(), levels_[top_].end(), later);
    }
    std::pop_heap(levels_[top_].begin(), levels_[top_].end(), later);
    entry = levels_[top_].back();
    levels_[top_].pop_back();
    return true;
  }

 private:
  static bool later(const WaitingPair& a, const WaitingPair& b) {
    return a.count != b.count ? a.count < b.count : a.pair > b.pair;
  }

  std::array<std::vector<WaitingPair>, 65> levels_;
  size_t top_ = 0;  // the group that is a heap; those above are empty
};

}  // namespace ingot
