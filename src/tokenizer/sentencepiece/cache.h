// Caches of encoded parts of normalised text: bounded tables for one thread at a time. They only
// save work; a part that is absent or was evicted is encoded again.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string_view>

#include "tokenizer/sentencepiece/unigram.h"

namespace ingot {

// Parts of up to 15 bytes with at most three tokens. Two entries per cache line, the last inserted
// first.
class PartCache {
 public:
  static constexpr size_t kPadding = 16;  // bytes readable from the start of every part
  static constexpr size_t kLongestPart = 15;
  static constexpr size_t kMaxTokens = 3;

  // The bytes, zeros, then the length: equal keys are equal parts. No part has an all-zero key.
  struct Key {
    uint64_t low = 0, high = 0;
    bool operator==(const Key&) const = default;
  };
  struct Entry {
    Key key;
    std::array<int32_t, kMaxTokens> ids;  // at least one; unused ones are -1
    float bound;                          // from encode_exactly()
  };

  PartCache();

  // The key of a part that is too long equals no entry's.
  static Key key_of(std::string_view part) {
    if (part.size() > kLongestPart) return {0, ~uint64_t{0}};
    Key key;
    std::memcpy(&key, part.data(), sizeof key);
    key.low &= mask_of(part.size());
    key.high &= part.size() > 8 ? mask_of(part.size() - 8) : 0;
    key.high |= static_cast<uint64_t>(part.size()) << 56;
    return key;
  }
  static size_t line_of(const Key& key) {
    const uint64_t mixed = (key.low ^ (key.high << 29 | key.high >> 35)) * 0x9E3779B97F4A7C15u;
    return static_cast<size_t>((mixed ^ key.high * 0xC2B2AE3D27D4EB4Fu) >> (64 - kBits));
  }
  void prefetch(size_t line) const { __builtin_prefetch(&lines_[line]); }

  // Null: absent. Valid until the next put().
  const Entry* find(const Key& key, size_t line) const {
    const auto& entries = lines_[line].entries;
    if (entries[0].key == key) [[likely]]
      return &entries[0];
    return entries[1].key == key ? &entries[1] : nullptr;
  }

  void put(const Key& key, float bound, std::span<const PieceToken> tokens);  // 1 to kMaxTokens

 private:
  static constexpr int kBits = 15;  // 2 MiB
  struct alignas(64) Line {
    std::array<Entry, 2> entries;
  };
  struct Free {
    void operator()(Line* lines) const;
  };
  static constexpr uint64_t mask_of(size_t size) {
    return size >= 8 ? ~uint64_t{0} : (uint64_t{1} << (8 * size)) - 1;
  }
  std::unique_ptr<Line[], Free> lines_;
};

// Longer parts, or parts with more tokens. One entry per hash; the newest stays.
class LongPartCache {
 public:
  static constexpr size_t kLongestPart = 58;
  static constexpr size_t kMaxTokens = 16;

  struct Entry {
    float bound;
    uint8_t size, count;  // of bytes, 0: no entry; of tokens
    std::array<char, kLongestPart> part;
    std::array<int32_t, kMaxTokens> ids;
  };

  LongPartCache();
  const Entry* find(std::string_view part) const;  // null: absent; valid until the next put()
  void put(std::string_view part, float bound, std::span<const PieceToken> tokens);  // if it fits

 private:
  static constexpr int kBits = 14;  // 2 MiB
  struct Free {
    void operator()(Entry* entries) const;
  };
  static size_t place_of(std::string_view part);
  std::unique_ptr<Entry[], Free> entries_;
};

}  // namespace ingot
