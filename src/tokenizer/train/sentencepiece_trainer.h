// Trains SentencePiece models with libsentencepiece.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tokenizer/sentencepiece/model.h"
#include "tokenizer/train/documents.h"

namespace ingot {

struct SentencePieceTrainerOptions {
  SentencePieceModel::Kind kind = SentencePieceModel::Kind::Unigram;
  int64_t vocab_size = 32000;               // special tokens and bytes included
  double character_coverage = 0.9995;       // rarer characters become bytes
  std::vector<std::string> special_tokens;  // besides <unk>, <s> and </s>, whose ids are 0 to 2
  std::function<void(int64_t characters)> progress;  // called occasionally while reading
  // Called after reading with the current step: "1,234 seed pieces". `is_new`: a step begins, as
  // opposed to another round of the same one. Does not throw.
  std::function<void(const std::string& step, bool is_new)> on_step;
};

struct TrainedSentencePiece {
  std::string file;  // a .model, for parse_sentencepiece()
  int64_t documents = 0, characters = 0, bytes = 0;
};

// Text is not normalised and no space is dropped: decoding restores the text, except for the space
// that is put in front. Lines are SentencePiece's sentences; it would skip those of more than 4192
// bytes, so they are cut, at a space if possible. The result depends only on documents and options:
// the library always gets the same number of threads, because its sums depend on it. It holds all
// text in memory, and for a unigram model many times that: DocumentSample bounds it. Throws
// ErrorCode::Missing if the library is not installed, ErrorCode::Data with its message if it fails.
TrainedSentencePiece train_sentencepiece(const NextDocument& next,
                                         const SentencePieceTrainerOptions& options);

}  // namespace ingot
