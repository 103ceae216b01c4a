// Counts the pieces of a stream of documents on all threads of a pool.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "core/device/thread_pool.h"
#include "tokenizer/train/bpe_trainer.h"
#include "tokenizer/train/piece_table.h"

namespace ingot {

struct CountedText {
  std::vector<PieceTable> tables;  // with disjoint pieces
  int64_t documents = 0, characters = 0, bytes = 0, pieces = 0;

  std::vector<PieceCount> distinct_pieces() const;  // views into the tables
};

// `report` is called occasionally with the characters read so far.
CountedText count_pieces(const NextDocument& next, const Splitter& split, ThreadPool& pool,
                         const std::function<void(int64_t characters)>& report);

}  // namespace ingot
