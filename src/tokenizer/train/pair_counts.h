// Counts the occurrences of each pair of neighbours.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "tokenizer/train/pair_queue.h"

namespace ingot {

// A hash table of pairs without removal. Slots keep their addresses until reserve().
class PairCounts {
 public:
  PairCounts() : slots_(size_t{1} << 16) {}

  // Makes room for `num_pairs` more.
  void reserve(size_t num_pairs) {
    if ((size_ + num_pairs) * 4 <= slots_.size() * 3) return;
    std::vector<Slot> old(std::bit_ceil((size_ + num_pairs) * 2));
    old.swap(slots_);
    for (const Slot& slot : old) {
      if (slot.pair != kFree) slots_[place_of(slot.pair)] = slot;
    }
  }

  // Prefetches the cache line with the pair's count.
  void prefetch(TokenPair pair) const { __builtin_prefetch(&slots_[home_of(pair)], 1); }

  // The count of a pair; inserts a new pair with 0 into a reserved slot.
  int64_t& operator[](TokenPair pair) {
    Slot& slot = slots_[place_of(pair)];
    if (slot.pair == kFree) {
      slot.pair = pair;
      ++size_;
    }
    return slot.count;
  }

  // Null if the pair was never counted.
  int64_t* find(TokenPair pair) {
    Slot& slot = slots_[place_of(pair)];
    return slot.pair == kFree ? nullptr : &slot.count;
  }

 private:
  static constexpr TokenPair kFree = ~TokenPair{0};
  struct Slot {
    TokenPair pair = kFree;
    int64_t count = 0;
  };

  size_t home_of(TokenPair pair) const {
    const uint64_t mixed = (pair ^ pair >> 29) * 0x9E3779B97F4A7C15u;
    return static_cast<size_t>(mixed >> (64 - std::countr_zero(slots_.size())));
  }
  size_t place_of(TokenPair pair) const {
    size_t at = home_of(pair);
    while (slots_[at].pair != kFree && slots_[at].pair != pair) at = (at + 1) & (slots_.size() - 1);
    return at;
  }

  std::vector<Slot> slots_;  // a power of two
  size_t size_ = 0;
};

}  // namespace ingot
