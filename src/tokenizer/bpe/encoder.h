// Encodes text with one BPE model: splits it, looks up each piece, and merges pieces not seen
// before.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "tokenizer/bpe/merger.h"
#include "tokenizer/bpe/piece_cache.h"

namespace ingot {

// Does not handle added tokens or normalisation. Thread-safe: each thread has caches of up to 10
// MiB for each of the few encoders that it used last.
class BpeEncoder {
 public:
  explicit BpeEncoder(const BpeModel& model);                // keeps no reference to it
  BpeEncoder(const BpeModel& model, ArchiveReader& reader);  // with data of save()
  void save(ArchiveWriter& writer) const;
  ~BpeEncoder();
  BpeEncoder(const BpeEncoder&) = delete;
  BpeEncoder& operator=(const BpeEncoder&) = delete;

  void encode(std::string_view text, std::vector<int32_t>& ids) const;  // appends

 private:
  struct Seed;
  struct Workspace;
  struct Batch;
  struct Cursor;
  const Seed& seed() const;
  Workspace& workspace() const;  // of this thread
  void encode_pieces(std::string_view text, std::span<const uint32_t> ends, Workspace& work,
                     std::vector<int32_t>& ids) const;
  static void add_plain_pieces(const PieceCache& cache, Cursor& cursor, Batch& batch);
  void add_parts(const PieceCache& cache, Cursor& cursor, Batch& batch) const;
  void look_up(std::string_view text, uint32_t begin, const Batch& batch, Workspace& work,
               std::vector<int32_t>& ids) const;
  // `maybe_long`: the piece may be in the cache of long pieces.
  void encode_missed(std::string_view piece, PieceKind kind, bool maybe_long, Workspace& work,
                     std::vector<int32_t>& ids) const;

  const uint64_t serial_;  // unique among all encoders: identifies this one in the threads' lists
  const Split split_;
  const BpeMerger merger_;
  const JoinFilter filter_;
  std::vector<std::pair<std::string, int32_t>> tokens_;  // those in encodings, most common last
  const bool whole_piece_first_;
  mutable std::once_flag seeded_;
  mutable std::unique_ptr<Seed> seed_;
  mutable PieceKind kind_of_parts_ = PieceKind::Whole;  // set with the seed

  void set_seed(std::unique_ptr<Seed> seed) const;
};

}  // namespace ingot
