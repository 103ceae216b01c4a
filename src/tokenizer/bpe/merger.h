// BPE merging: joins the ids of a piece's bytes pair by pair until no pair merges.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "tokenizer/bpe/archive.h"
#include "tokenizer/bpe/model.h"

namespace ingot {

// The result of merging two neighbours and its rank: the smallest rank merges first.
using RankedResult = uint64_t;  // rank << 32 | id
inline constexpr RankedResult kNoMerge = UINT64_MAX;

// (left id, right id) → result. Open addressing, at most half full. Most looked-up pairs do not
// merge: two adjacent bytes of each pair's hash show that without reading the entry.
class PairTable {
 public:
  explicit PairTable(const std::vector<TokenMerge>& merges);  // for equal pairs the last one counts
  PairTable(ArchiveReader& reader, size_t num_tokens);        // written by save()
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

// Finds boundaries that no merge can cross: between two non-ASCII characters with no token spanning
// them. Most boundaries in CJK text are of this kind, and its pieces are long.
class JoinFilter {
 public:
  explicit JoinFilter(const std::vector<std::string>& tokens);
  explicit JoinFilter(ArchiveReader& reader);
  void save(ArchiveWriter& writer) const;
  // The first position after `begin` that no token spans; the text's size if there is none.
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

  Bits pairs_;  // the two bytes at the boundary, for tokens with one byte on a side
  Bits quads_;  // all other tokens
};

// Scratch memory for merging; the caller reuses it for all pieces.
struct MergeScratch {
  std::vector<int32_t> ids;
  std::vector<uint32_t> previous, next;
  std::vector<uint64_t> heap;
};

// Appends the merged symbols of `scratch.ids`. n symbols take O(n log n) time.
void merge_symbols(const PairTable& pairs, MergeScratch& scratch, std::vector<int32_t>& ids);

class BpeMerger {
 public:
  using Scratch = MergeScratch;

  explicit BpeMerger(const BpeModel& model);
  BpeMerger(ArchiveReader& reader, size_t num_tokens);  // written by save()
  void save(ArchiveWriter& writer) const;

  bool knows_bytes_of(std::string_view piece) const;  // whether merge() accepts the piece
  // Appends. A piece of n bytes takes O(n log n) time, and 20 n bytes of scratch if n is large.
  // Throws ErrorCode::Data for a byte without a token.
  void merge(std::string_view piece, Scratch& scratch, std::vector<int32_t>& ids) const;

 private:
  int32_t id_of(char byte) const;
  void merge_short(std::string_view piece, std::vector<int32_t>& ids) const;
  void merge_long(std::string_view piece, Scratch& scratch, std::vector<int32_t>& ids) const;

  std::array<int32_t, 256> byte_ids_;  // -1: no token
  PairTable pairs_;
  std::vector<RankedResult> byte_pairs_;  // by byte × 256 + byte: the first merge of a piece
};

}  // namespace ingot
