// Encodes text with a SentencePiece model: normalises, cuts, looks up each part, and encodes parts
// not seen before.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tokenizer/sentencepiece/bpe.h"
#include "tokenizer/sentencepiece/cache.h"
#include "tokenizer/sentencepiece/cuts.h"
#include "tokenizer/sentencepiece/model.h"
#include "tokenizer/sentencepiece/normalizer.h"
#include "tokenizer/sentencepiece/unigram.h"
#include "tokenizer/workspace_pool.h"

namespace ingot {

// Thread-safe: each concurrent call uses its own memory, 4 MiB and, for a unigram model, 12 bytes
// per byte of the longest text that cannot be cut. The memory is reused by later calls until the
// encoder is destroyed.
class SentencePieceEncoder {
 public:
  SentencePieceEncoder(const SentencePieceModel& model, std::string_view origin);  // copies data
  ~SentencePieceEncoder();
  SentencePieceEncoder(const SentencePieceEncoder&) = delete;
  SentencePieceEncoder& operator=(const SentencePieceEncoder&) = delete;

  void encode(std::string_view text, std::vector<int32_t>& ids) const;  // appends

 private:
  struct Workspace;
  template <class Sum>
  struct Output {
    std::vector<int32_t>& ids;
    Sum sum = 0;  // sum of scores with the reference's rounding; 0 for BPE
    bool after_unknown = false;
  };

  SentencePieceEncoder(const SentencePieceModel& model, const std::vector<std::string>& texts,
                       std::string_view origin);
  template <class Sum>
  void encode_normalized(std::string_view text, const std::vector<Sum>& scores, Workspace& work,
                         Output<Sum> out) const;
  int32_t id_of_character(std::string_view part) const;
  template <class Sum>
  void encode_part(std::string_view part, const PartCache::Entry* found,
                   const std::vector<Sum>& scores, Workspace& work, Output<Sum>& out) const;
  template <class Sum>
  void find_tokens(std::string_view part, bool is_new, Workspace& work, Sum& sum) const;
  void remember(std::string_view part, float bound, Workspace& work) const;
  template <class Sum>
  void append_unknown(std::string_view character, Output<Sum>& out) const;

  SentencePieceNormalizer normalizer_;
  PieceCuts cuts_;
  std::optional<UnigramEncoder> unigram_;  // one of the two is set
  std::optional<SentencePieceBpe> bpe_;
  std::vector<float> no_scores_;     // zeros by id, with a BPE model
  std::vector<int32_t> characters_;  // ids of the characters of three bytes, by code point
  int32_t unknown_;
  bool escaped_spaces_, split_at_spaces_, fuse_unknown_, double_sums_;
  std::optional<std::array<int32_t, 256>> byte_ids_;  // with byte fallback

  mutable WorkspacePool<Workspace> pool_;
};

}  // namespace ingot
