// Merging: the ids of a piece's bytes, joined pair by pair until no pair is left.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "tokenizer/bpe/archive.h"
#include "tokenizer/bpe/model.h"

namespace ingot {

// What two neighbours become, and when: the smallest merges first.
using RankedResult = uint64_t;  // rank << 32 | id
inline constexpr RankedResult kNoMerge = UINT64_MAX;

// (left id, right id) → result. Open addressing, at most half full. Most pairs that are asked for
// do not merge: two bytes of each pair's hash, which lie together, show that without a look at the
// rest.
class PairTable {
 public:
  explicit PairTable(const std::vector<TokenMerge>& merges);  // of equal pairs the last counts
  PairTable(ArchiveReader& reader, size_t num_tokens);        // what save() wrote
  void save(ArchiveWriter& writer) const;
  RankedResult find(int32_t left, int32_t right) const {
    const Key key(left, right);
    for (size_t slot = key.hash >> shift_; tags_[slot] != kEmpty; slot = (slot + 1) & mask_) {
      if (tags_[slot] == key.tag && entries_[slot].pair == key.pair) return entries_[slot].result;
    }
    return kNoMerge;
  }

 private:
  static constexpr uint16_t kEmpty = 0;
  struct Key {
    Key(int32_t left, int32_t right)
        : pair(uint64_t{static_cast<uint32_t>(left)} << 32 | static_cast<uint32_t>(right)),
          hash((pair ^ pair >> 32) * 0x9E3779B97F4A7C15u),
          tag(static_cast<uint16_t>(hash >> 16 | 1)) {}
    uint64_t pair, hash;
    uint16_t tag;
  };
  struct Entry {
    uint64_t pair;
    RankedResult result;
  };

  std::vector<uint16_t> tags_;
  std::vector<Entry> entries_;
  size_t mask_;
  int shift_;
};

// Where no merge can reach: a boundary between two characters beyond ASCII that no token spans.
// Most boundaries inside CJK text are of this kind, and its pieces are long.
class JoinFilter {
 public:
  explicit JoinFilter(const std::vector<std::string>& tokens);
  explicit JoinFilter(ArchiveReader& reader);
  void save(ArchiveWriter& writer) const;
  // The first place after `begin` that no token can hold both sides of; the text's size: none.
  size_t next_cut(std::string_view text, size_t begin) const;

 private:
  static bool between_characters(std::string_view text, size_t at) {
    return static_cast<uint8_t>(text[at - 1]) >= 0x80 && static_cast<uint8_t>(text[at]) >= 0xC0;
  }
  static size_t quad_bit(std::string_view text, size_t at);  // of two bytes on either side, hashed

  class Bits {
   public:
    explicit Bits(size_t count) : words_(count / 64) {}
    bool operator[](size_t bit) const { return (words_[bit / 64] >> bit % 64 & 1) != 0; }
    void set(size_t bit) { words_[bit / 64] |= uint64_t{1} << bit % 64; }
    std::vector<uint64_t>& words() { return words_; }
    const std::vector<uint64_t>& words() const { return words_; }

   private:
    std::vector<uint64_t> words_;
  };

  Bits pairs_;  // the bytes at the boundary, of tokens that begin or end one byte from it
  Bits quads_;  // all others
};

// Memory that merging works in, kept by the caller from piece to piece.
struct MergeScratch {
  std::vector<int32_t> ids;
  std::vector<uint32_t> previous, next;
  std::vector<uint64_t> heap;
};

// Appends what the symbols in `scratch.ids` become. n of them take n log n time.
void merge_symbols(const PairTable& pairs, MergeScratch& scratch, std::vector<int32_t>& ids);

class BpeMerger {
 public:
  using Scratch = MergeScratch;

  explicit BpeMerger(const BpeModel& model);
  BpeMerger(ArchiveReader& reader, size_t num_tokens);  // what save() wrote
  void save(ArchiveWriter& writer) const;

  bool knows_bytes_of(std::string_view piece) const;  // merge() would not throw
  // Appends. A piece of n bytes takes n log n time, and 20 n bytes of scratch where n is large.
  // Throws ErrorCode::Data on a byte without a token.
  void merge(std::string_view piece, Scratch& scratch, std::vector<int32_t>& ids) const;

 private:
  int32_t id_of(char byte) const;
  void merge_short(std::string_view piece, std::vector<int32_t>& ids) const;
  void merge_long(std::string_view piece, Scratch& scratch, std::vector<int32_t>& ids) const;

  std::array<int32_t, 256> byte_ids_;  // -1: no token
  PairTable pairs_;
  std::vector<RankedResult> byte_pairs_;  // of byte × 256 + byte: each piece begins with these
};

}  // namespace ingot
