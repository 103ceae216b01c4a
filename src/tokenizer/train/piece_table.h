// Counts pieces of text: a hash table for millions of short strings.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ingot {

// Pieces of up to 15 bytes, nearly all pieces in most languages, are stored in the slots: counting
// one touches a single cache line. Longer ones are in a second table.
class PieceTable {
 public:
  PieceTable();

  // Counts the pieces of `text` that end at `ends`, the first from its start; skips empty ones.
  void count(std::string_view text, const std::vector<uint32_t>& ends);

  // Adds the counts of `other` for the pieces in part `part` of `num_parts`. Parts are disjoint,
  // cover all pieces and are the same for every table.
  void add(const PieceTable& other, int part, int num_parts);

  size_t size() const { return num_short_ + num_long_; }

  // visit(std::string_view piece, int64_t count), in no particular order. The views are valid until
  // the table is changed or moved.
  template <class Visit>
  void for_each(const Visit& visit) const {
    for (const Short& slot : short_) {
      if (slot.count > 0) visit(slot.view(), slot.count);
    }
    for (const Long& slot : long_) {
      if (slot.count > 0) visit(view_of(slot), slot.count);
    }
  }

 private:
  struct Key {
    uint64_t low = 0, high = 0;  // the bytes, then zeros, then the length in the last byte
    bool operator==(const Key&) const = default;
  };
  struct Short {
    Key key;
    int64_t count = 0;  // 0: the slot is free
    std::string_view view() const {
      return {reinterpret_cast<const char*>(&key), static_cast<size_t>(key.high >> 56)};
    }
  };
  struct Long {
    uint64_t hash = 0;
    uint64_t begin = 0;  // of its bytes in long_bytes_
    int64_t count = 0;   // 0: the slot is free
    uint32_t size = 0;
  };

  static Key key_of(std::string_view text, size_t begin, size_t size);
  static uint64_t hash_of(const Key& key);
  static uint64_t hash_of(std::string_view piece);
  std::string_view view_of(const Long& slot) const {
    return std::string_view(long_bytes_).substr(slot.begin, slot.size);
  }
  void add_short(const Key& key, uint64_t hash, int64_t count);
  void add_long(std::string_view piece, uint64_t hash, int64_t count);

  // Sizes are powers of two; a piece is at its hash or in the next free slot.
  std::vector<Short> short_;
  std::vector<Long> long_;
  std::string long_bytes_;
  size_t num_short_ = 0, num_long_ = 0;
};

}  // namespace ingot
