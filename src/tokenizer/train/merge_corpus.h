// The distinct pieces of a training text as tokens, and the merging of a pair of them everywhere.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "tokenizer/train/bpe_trainer.h"
#include "tokenizer/train/pair_counts.h"
#include "tokenizer/train/pair_queue.h"
#include "tokenizer/train/posting_arena.h"

namespace ingot {

// Every merge costs as much as the pair has occurrences, however long the pieces are.
class MergeCorpus {
 public:
  // Tokens are single bytes at first, by the ids of `byte_ids`. All ids are below `vocab_size`. A
  // pair of `length_limit` bytes or more is not counted unless its parts are single bytes; 0: no
  // limit.
  MergeCorpus(std::vector<PieceCount> pieces, const std::array<uint32_t, 256>& byte_ids,
              uint32_t vocab_size, uint64_t length_limit, int64_t min_count);

  // Takes the most frequent pair, of equally frequent ones the smallest; false when none is left.
  bool pop(WaitingPair& entry);

  // Replaces the pair by `id`, a new one, from left to right in every piece.
  void merge(const WaitingPair& entry, uint32_t id);

 private:
  // A side of the merged pair on which neighbours stand.
  enum Side { kLeft, kRight };
  static constexpr uint32_t kUntouched = ~uint32_t{0};

  // What a merge does to the pairs with one neighbour on one side.
  struct Neighbour {
    uint32_t id;
    Side side;
    int64_t lost = 0, gained = 0;  // occurrences of the pair with the old token, with the new one
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

  // One slot for each byte of the pieces, and one before and after each piece that marks its
  // border. A token has its id in its first slot and, if longer than one, its length in its last,
  // marked by the top bit; so both neighbours are found without a search. The slots between hold no
  // id.
  std::vector<uint32_t> slots_;
  struct Run {
    uint64_t end;   // slots from the previous run's end to here are of pieces
    int64_t count;  // that occur so often
  };
  std::vector<Run> runs_;         // few, since the pieces are sorted by count
  std::vector<uint32_t> length_;  // of each id, in bytes
  uint64_t length_limit_;
  int64_t min_count_;

  PairCounts counts_;
  PairQueue queue_;
  PostingArena postings_;

  // Only during a merge.
  std::array<std::vector<uint32_t>, 2> neighbour_index_;  // [side][id] into neighbours_
  std::vector<Neighbour> neighbours_;
  std::vector<Created> created_;
};

}  // namespace ingot
