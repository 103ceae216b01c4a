// The distinct pieces of a training text as tokens; merges a pair in all of them.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "tokenizer/train/bpe_trainer.h"
#include "tokenizer/train/pair_counts.h"
#include "tokenizer/train/pair_queue.h"
#include "tokenizer/train/posting_arena.h"

namespace ingot {

// A merge costs time in proportion to the pair's occurrences, whatever the lengths of the pieces.
class MergeCorpus {
 public:
  // Tokens start as single bytes with the ids of `byte_ids`. All ids are below `vocab_size`. Pairs
  // of `length_limit` bytes or more are not counted unless both parts are single bytes; 0: no
  // limit.
  MergeCorpus(std::vector<PieceCount> pieces, const std::array<uint32_t, 256>& byte_ids,
              uint32_t vocab_size, uint64_t length_limit, int64_t min_count);

  // Takes the most frequent pair, and of equally frequent ones the smallest; false if none is left.
  bool pop(WaitingPair& entry);

  // Replaces the pair by the new id `id`, from left to right in every piece.
  void merge(const WaitingPair& entry, uint32_t id);

 private:
  // The side of the merged pair that a neighbour is on.
  enum Side { kLeft, kRight };
  static constexpr uint32_t kUntouched = ~uint32_t{0};

  // The effect of a merge on the pairs with one neighbour on one side.
  struct Neighbour {
    uint32_t id;
    Side side;
    int64_t lost = 0, gained = 0;  // occurrences of the pair with the old and with the new token
    uint64_t num_positions = 0;    // of the pair with the new token
    uint64_t num_bytes = 0;        // of their list
    uint64_t last_position = 0;
    uint8_t* list = nullptr;
    TokenPair pair_with(uint32_t token) const {
      return side == kLeft ? pair_of(id, token) : pair_of(token, id);
    }
  };
  struct Created {
    uint64_t position;
    uint32_t neighbour;  // index into neighbours_
  };

  void lay_out_bytes(const std::vector<PieceCount>& pieces);
  void queue_byte_pairs(const std::array<uint32_t, 256>& byte_ids);
  int64_t weight_at(uint64_t position, size_t& run) const;
  void merge_occurrences(const WaitingPair& entry, uint32_t id);
  void merge_at(uint64_t position, TokenPair pair, uint32_t id, int64_t weight);
  uint32_t touch(Side side, uint32_t id);
  void note_created(uint32_t neighbour, uint64_t position, int64_t weight, uint32_t id);
  void settle_counts(TokenPair merged, uint32_t id);
  void queue_created_pairs(uint32_t id);

  // One slot per byte of the pieces, and a border slot before and after each piece. A token has its
  // id in its first slot and, if longer than one, its length in its last slot, marked by the top
  // bit; so both neighbours are found without a search. The slots between are unused.
  std::vector<uint32_t> slots_;
  struct Run {
    uint64_t end;   // the run's pieces are in the slots from the previous run's end to here
    int64_t count;  // the number of occurrences of each
  };
  std::vector<Run> runs_;         // few, since the pieces are sorted by count
  std::vector<uint32_t> length_;  // of each id, in bytes
  uint64_t length_limit_;
  int64_t min_count_;

  PairCounts counts_;
  PairQueue queue_;
  PostingArena postings_;

  // Used only during a merge.
  std::array<std::vector<uint32_t>, 2> neighbour_index_;  // [side][id] into neighbours_
  std::vector<Neighbour> neighbours_;
  std::vector<Created> created_;
};

}  // namespace ingot
