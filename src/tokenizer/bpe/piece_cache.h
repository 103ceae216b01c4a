// Caches of encoded pieces: bounded tables for one thread. They only save work; a piece that is
// absent or was evicted is merged again.
#pragma once

#include <emmintrin.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "tokenizer/bpe/archive.h"

namespace ingot {

// If a whole piece can become a token that its bytes do not merge to, parts of pieces need a
// different kind of key.
enum class PieceKind : uint8_t { Whole = 0, Part = 0x80 };

// A piece of up to 15 bytes, with size and kind in the last byte: equal keys are equal pieces.
class PieceKey {
 public:
  static constexpr size_t kLongest = 15;
  static constexpr size_t kReadBytes = 16;

  PieceKey() : key_(_mm_setzero_si128()) {}  // equal to no piece's key; marks empty entries
  PieceKey(std::string_view piece, PieceKind kind) {
    alignas(16) char bytes[kReadBytes] = {};
    std::memcpy(bytes, piece.data(), piece.size());
    *this = readable({bytes, piece.size()}, kind);
  }
  // The same, if kReadBytes are readable from piece.data() on, even beyond the piece.
  static PieceKey readable(std::string_view piece, PieceKind kind) {
    const auto* bytes = reinterpret_cast<const __m128i*>(piece.data());
    const auto* mask = reinterpret_cast<const __m128i*>(kTails.mask[piece.size()]);
    const auto* size = reinterpret_cast<const __m128i*>(kTails.size[piece.size()]);
    PieceKey key;
    key.key_ = _mm_and_si128(_mm_loadu_si128(bytes), _mm_load_si128(mask));
    key.key_ = _mm_or_si128(key.key_, _mm_load_si128(size));
    if (kind == PieceKind::Part) {
      key.key_ =
          _mm_or_si128(key.key_, _mm_set_epi64x(INT64_MIN, 0));  // the highest bit of the last byte
    }
    return key;
  }
  static PieceKey none() {  // equal to no piece's key and in no entry
    PieceKey key;
    key.key_ = _mm_set1_epi8(-1);
    return key;
  }

  bool operator==(const PieceKey& other) const {
    return _mm_movemask_epi8(_mm_cmpeq_epi8(key_, other.key_)) == 0xFFFF;
  }
  uint64_t hash() const {
    const __m128i mixed =
        _mm_xor_si128(key_, _mm_set_epi64x(-0x18FC812E5F4BD725, -0x5F89E29B87429BD1));
    const auto low = static_cast<uint64_t>(_mm_cvtsi128_si64(mixed));
    const auto high = static_cast<uint64_t>(_mm_cvtsi128_si64(_mm_unpackhi_epi64(mixed, mixed)));
    const Wide product = static_cast<Wide>(low) * high;
    return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
  }

 private:
  __extension__ typedef unsigned __int128 Wide;

  // By piece size: the mask of its bytes, and the last byte of its key.
  struct Tails {
    alignas(16) uint8_t mask[kLongest + 1][kReadBytes];
    alignas(16) uint8_t size[kLongest + 1][kReadBytes];
  };
  static constexpr Tails make_tails() {
    Tails tails{};
    for (size_t n = 0; n <= kLongest; ++n) {
      for (size_t i = 0; i < n; ++i) tails.mask[n][i] = 0xFF;
      tails.size[n][kReadBytes - 1] = static_cast<uint8_t>(n);
    }
    return tails;
  }
  static const Tails kTails;

  __m128i key_;
};

inline constexpr PieceKey::Tails PieceKey::kTails = PieceKey::make_tails();

// Short pieces. Sets of two in one cache line, most recently used first: common pieces stay, rare
// ones are evicted. Grows on demand, up to 8 MiB.
class PieceCache {
 public:
  static constexpr size_t kMaxIds = 3;
  struct Value {
    int32_t ids[kMaxIds];
    uint32_t count;  // 0: more than kMaxIds, in the LongPieceCache
  };
  struct Entry {
    PieceKey key;
    Value value;
  };
  struct alignas(64) Set {
    Entry entries[2];
  };

  explicit PieceCache(size_t num_pieces);  // the expected minimum
  PieceCache(const PieceCache& seed);
  PieceCache(ArchiveReader& reader, size_t num_tokens);  // written by save()
  void save(ArchiveWriter& writer) const;
  PieceCache& operator=(const PieceCache&) = delete;

  Set* set_of(const PieceKey& key) const { return &sets_[key.hash() >> shift_]; }
  // Searches the set of `key`; null: absent. Valid until the next call.
  static const Value* find(const PieceKey& key, Set* set) {
    Entry* entry = set->entries;
    if (!(entry[0].key == key)) [[unlikely]] {
      if (!(entry[1].key == key)) return nullptr;
      std::swap(entry[0], entry[1]);
    }
    return &entry[0].value;
  }
  void insert(const PieceKey& key, std::span<const int32_t> ids);
  // Enlarges the cache if it has evicted many pieces. Sets move: call it between lookups.
  void grow_if_crowded();

 private:
  static constexpr int kLeastBits = 10, kMostBits = 17;  // of the number of sets
  struct Free {
    void operator()(Set* sets) const;
  };
  using Sets = std::unique_ptr<Set[], Free>;
  static Sets allocate(size_t num_sets);
  size_t num_sets() const { return size_t{1} << (64 - shift_); }
  void put(const Entry& entry);

  int shift_;  // maps a hash to a set
  size_t pushed_out_ = 0;
  Sets sets_;
};

// Pieces that are longer or have more ids. One place per hash; the newest piece stays. 2 MiB,
// allocated at the first insertion.
class LongPieceCache {
 public:
  static constexpr size_t kLongestPiece = 64;
  static constexpr size_t kMaxIds = 15;

  // Empty: absent. Valid until the next insert().
  std::span<const int32_t> find(std::string_view piece, PieceKind kind) const;
  void insert(std::string_view piece, PieceKind kind, std::span<const int32_t> ids);

 private:
  static constexpr int kBits = 14;
  struct Entry {
    uint8_t tag = 0;  // size and kind; 0: empty
    uint8_t count = 0;
    char piece[kLongestPiece];
    int32_t ids[kMaxIds];
  };
  static uint8_t tag_of(std::string_view piece, PieceKind kind) {
    return static_cast<uint8_t>(piece.size() | static_cast<uint8_t>(kind));
  }
  static size_t slot_of(std::string_view piece);
  std::vector<Entry> entries_;
};

}  // namespace ingot
