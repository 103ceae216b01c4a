// Trains SentencePiece models, through libsentencepiece.
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
  std::vector<std::string> special_tokens;  // besides <unk>, <s> and </s>, which get ids 0 to 2
  std::function<void(int64_t characters)> progress;  // called now and then while reading
  // Called with what is done after that: "1,234 seed pieces"; `is_new` where a step begins, not for
  // every round of one. Does not throw.
  std::function<void(const std::string& step, bool is_new)> on_step;
};

struct TrainedSentencePiece {
  std::string file;  // a .model, for parse_sentencepiece()
  int64_t documents = 0, characters = 0, bytes = 0;
};

// Text is not normalised and no space is dropped: what is encoded comes back, except for the space
// that is put in front. Lines are SentencePiece's sentences; it would skip those of more than 4192
// bytes, so they are cut, at a space where there is one. The result is a function of documents and
// options; the library always gets the same number of threads, because its sums depend on it. It
// holds all text in memory, and for a unigram model many times that: DocumentSample bounds it.
// Throws ErrorCode::Missing where the library is not installed, ErrorCode::Data with its words
// where it refuses.
TrainedSentencePiece train_sentencepiece(const NextDocument& next,
                                         const SentencePieceTrainerOptions& options);

}  // namespace ingot
