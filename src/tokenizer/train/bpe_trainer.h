// Trains byte-level BPE: splits text into pieces, and merges the most frequent pair of neighbours
// within pieces into a token until the vocabulary is full.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/device/thread_pool.h"
#include "tokenizer/bpe/model.h"
#include "tokenizer/train/documents.h"

namespace ingot {

// Splits a document into pieces, as split_text() does: appends the end of each, in bytes.
using Splitter = std::function<void(std::string_view text, std::vector<uint32_t>& ends)>;

// Of equally frequent pairs the one with the smaller (left id, right id) merges first, so the
// numbering of bytes decides ties.
enum class Ties {
  // As Hugging Face's BpeTrainer: special tokens from 0 on, then the bytes in the order of GPT-2's
  // byte alphabet, then the merges.
  Hf,
  // As rustbpe: bytes 0 to 255, the merges from 256 on, then the special tokens.
  Raw,
};

struct BpeTrainerOptions {
  int64_t vocab_size = 32768;  // special tokens included
  Ties ties = Ties::Hf;
  std::vector<std::string> special_tokens;  // distinct, of two bytes or more
  int64_t min_frequency = 1;                // rarer pairs are not merged
  // As in HF's trainer: two tokens merge only if the result is shorter than this, in bytes, or both
  // are single bytes. 0: no limit.
  int64_t max_token_length = 0;
  // Called occasionally, by one thread at a time.
  std::function<void(int64_t characters, int64_t merges)> progress;
};

struct TrainedBpe {
  // The caller sets its pattern. The vocabulary is smaller than requested if no pair was frequent
  // enough.
  BpeModel model;

  // Size of the training text.
  int64_t documents = 0, characters = 0, bytes = 0;
  int64_t pieces = 0, distinct_pieces = 0;
};

// The result depends only on the documents and options, not on the number of threads or the order
// of the documents. No two tokens have the same bytes. Memory grows with the number of distinct
// pieces, not with the text; each thread holds one whole document. Special tokens in the documents
// are treated as text. Throws ErrorCode::Usage for contradictory options.
TrainedBpe train_bpe(const NextDocument& next, const Splitter& split,
                     const BpeTrainerOptions& options, ThreadPool& pool);

struct PieceCount {
  std::string_view bytes;
  int64_t count;  // at least 1
};

// The same from pieces that were already counted.
BpeModel train_bpe(const std::vector<PieceCount>& pieces, const BpeTrainerOptions& options);

}  // namespace ingot
