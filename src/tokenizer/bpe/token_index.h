// Maps the bytes of a token to its id.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace ingot {

inline uint64_t hash_bytes(std::string_view bytes) {
  uint64_t hash = bytes.size();
  for (size_t at = 0; at < bytes.size(); at += 8) {
    uint64_t word = 0;
    std::memcpy(&word, bytes.data() + at, std::min<size_t>(8, bytes.size() - at));
    hash = (hash ^ word) * 0x9E3779B97F4A7C15u;
    hash ^= hash >> 32;
  }
  return hash * 0x9E3779B97F4A7C15u;
}

// Refers to the tokens, which must not change. Loading a vocabulary looks up each token several
// times; std::unordered_map took most of that time.
class TokenIndex {
 public:
  static constexpr int32_t kNone = -1;

  // Skips empty tokens; for equal tokens finds the smallest id.
  explicit TokenIndex(const std::vector<std::string>& tokens)
      : tokens_(tokens), slots_(std::bit_ceil(2 * tokens.size() + 2)) {
    for (size_t id = 0; id < tokens.size(); ++id) {
      if (tokens[id].empty()) continue;
      Slot& slot = slots_[slot_of(tokens[id])];
      if (slot.id == kNone) slot = {tag_of(hash_bytes(tokens[id])), static_cast<int32_t>(id)};
    }
  }

  int32_t find(std::string_view token) const { return slots_[slot_of(token)].id; }

 private:
  struct Slot {
    uint32_t tag = 0;
    int32_t id = kNone;
  };
  static uint32_t tag_of(uint64_t hash) { return static_cast<uint32_t>(hash); }
  size_t slot_of(std::string_view token) const {  // its slot, or a free one for it
    const uint64_t hash = hash_bytes(token);
    const size_t mask = slots_.size() - 1;
    size_t slot = (hash >> 32) & mask;
    while (slots_[slot].id != kNone &&
           (slots_[slot].tag != tag_of(hash) || tokens_[slots_[slot].id] != token)) {
      slot = (slot + 1) & mask;
    }
    return slot;
  }

  const std::vector<std::string>& tokens_;
  std::vector<Slot> slots_;
};

}  // namespace ingot
