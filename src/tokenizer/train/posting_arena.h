// Lists of positions, stored as differences with variable-length encoding.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

namespace ingot {

// Seven bits per byte, lowest first; the top bit says that more follow.
inline size_t varint_size(uint64_t value) {
  size_t size = 1;
  for (; value >= 0x80; value >>= 7) ++size;
  return size;
}

inline uint8_t* write_varint(uint8_t* at, uint64_t value) {
  for (; value >= 0x80; value >>= 7) *at++ = static_cast<uint8_t>(value | 0x80);
  *at++ = static_cast<uint8_t>(value);
  return at;
}

inline uint64_t read_varint(const uint8_t*& at) {
  uint64_t value = *at & 0x7F;
  for (int shift = 7; *at++ & 0x80; shift += 7) value |= static_cast<uint64_t>(*at & 0x7F) << shift;
  return value;
}

// A list is its length as a varint, then the differences. Lists are never freed: a merge removes
// one position and adds at most two, so all lists together have at most three times the initial
// positions, which takes less memory than tracking free lists.
class PostingArena {
 public:
  uint8_t* allocate(size_t size) {
    if (size > left_) {
      left_ = std::max(size, kBlock);
      blocks_.push_back(std::make_unique_for_overwrite<uint8_t[]>(left_));
      next_ = blocks_.back().get();
    }
    uint8_t* list = next_;
    next_ += size;
    left_ -= size;
    return list;
  }

 private:
  static constexpr size_t kBlock = size_t{4} << 20;
  std::vector<std::unique_ptr<uint8_t[]>> blocks_;
  uint8_t* next_ = nullptr;
  size_t left_ = 0;
};

}  // namespace ingot
