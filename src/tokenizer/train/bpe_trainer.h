// Trains byte-level BPE: text is cut into pieces, and inside them the most frequent pair of
// neighbours becomes a token, until the vocabulary is full.
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

// Cuts a document into pieces, as split_text() does: appends the end of each, in bytes.
using Splitter = std::function<void(std::string_view text, std::vector<uint32_t>& ends)>;

// Of equally frequent pairs the one with the smaller (left id, right id) is merged first, so how
// bytes are numbered decides ties.
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
  std::vector<std::string> special_tokens;  // different, of two bytes or more
  int64_t min_frequency = 1;                // rarer pairs are not merged
  // As HF's trainer takes it: two tokens merge only if together they are shorter, in bytes, or if
  // both are single bytes. 0: no limit.
  int64_t max_token_length = 0;
  // Called now and then, by one thread at a time, with how far it has come.
  std::function<void(int64_t characters, int64_t merges)> progress;
};

struct TrainedBpe {
  // Its pattern is the caller's to set. The vocabulary is smaller than asked for when no pair was
  // left that occurs often enough.
  BpeModel model;

  // What it was trained on.
  int64_t documents = 0, characters = 0, bytes = 0;
  int64_t pieces = 0, distinct_pieces = 0;
};

// The result is a function of the documents and options alone: neither the number of threads nor
// the order of the documents changes it. No two tokens have the same bytes. Memory grows with the
// number of distinct pieces, not with the text; a document is held whole, one for each thread.
// Special tokens are not looked for in the documents. Throws ErrorCode::Usage on options that
// contradict each other.
TrainedBpe train_bpe(const NextDocument& next, const Splitter& split,
                     const BpeTrainerOptions& options, ThreadPool& pool);

struct PieceCount {
  std::string_view bytes;
  int64_t count;  // at least 1
};

// The same from pieces that were counted before.
BpeModel train_bpe(const std::vector<PieceCount>& pieces, const BpeTrainerOptions& options);

}  // namespace ingot
