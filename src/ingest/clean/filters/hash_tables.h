// Sets and counts of 64-bit hashes, for one document at a time. Different strings with equal hashes
// count as one: with a million n-grams that happens in about one of 10^7 documents.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace ingot {

// Open addressing, at most half full; reset() clears it and keeps the memory.
class HashSet {
 public:
  void reset(size_t max_entries) {
    const size_t slots = std::bit_ceil(2 * max_entries + 2);
    shift_ = 64 - std::countr_zero(slots);
    mask_ = slots - 1;
    slots_.assign(slots, kFree);
  }

  // False if the hash was already in the set.
  bool insert(uint64_t hash) {
    if (hash == kFree) hash = 1;
    for (size_t slot = slot_of(hash);; slot = (slot + 1) & mask_) {
      if (slots_[slot] == kFree) {
        slots_[slot] = hash;
        return true;
      }
      if (slots_[slot] == hash) return false;
    }
  }

 private:
  static constexpr uint64_t kFree = 0;

  size_t slot_of(uint64_t hash) const { return (hash * 0x9E3779B97F4A7C15u) >> shift_; }

  std::vector<uint64_t> slots_;
  int shift_ = 63;
  size_t mask_ = 0;
};

// Counts occurrences and tracks the most frequent hash; of equally frequent ones the first.
class HashCounter {
 public:
  void reset(size_t max_entries) {
    const size_t slots = std::bit_ceil(2 * max_entries + 2);
    shift_ = 64 - std::countr_zero(slots);
    mask_ = slots - 1;
    entries_.assign(slots, {0, 0, 0});
    top_ = {0, 0, 0};
  }

  // `position` increases from call to call.
  void add(uint64_t hash, uint32_t position) {
    for (size_t slot = (hash * 0x9E3779B97F4A7C15u) >> shift_;; slot = (slot + 1) & mask_) {
      Entry& entry = entries_[slot];
      if (entry.count == 0) {
        entry = {hash, 1, position};
      } else if (entry.hash == hash) {
        ++entry.count;
      } else {
        continue;
      }
      if (entry.count > top_.count || (entry.count == top_.count && entry.first < top_.first)) {
        top_ = entry;
      }
      return;
    }
  }

  uint32_t top_count() const { return top_.count; }  // 0: nothing was added
  uint32_t top_first() const { return top_.first; }  // position of its first occurrence

 private:
  struct Entry {
    uint64_t hash;
    uint32_t count, first;
  };

  std::vector<Entry> entries_;
  Entry top_{0, 0, 0};
  int shift_ = 63;
  size_t mask_ = 0;
};

}  // namespace ingot
