// SentencePiece's BPE encoder: neighbours that together are a piece merge, the best score first;
// or, for Hugging Face's, those that are in a list of merges.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tokenizer/bpe/merger.h"
#include "tokenizer/sentencepiece/model.h"
#include "tokenizer/sentencepiece/trie.h"
#include "tokenizer/sentencepiece/unigram.h"

namespace ingot {

class SentencePieceBpe {
 public:
  // Memory to work in, kept by the caller.
  struct Scratch {
    struct Symbol {            // a run of text that is one piece so far, in a list linked both ways
      uint32_t begin, size;    // 0 bytes: merged into its left neighbour
      int32_t previous, next;  // -1: none
      int32_t id;              // with a list of merges; -1: unknown
      bool frozen;             // user-defined: never merges
    };
    struct Merge {
      float score;
      int32_t left, right;
      uint32_t size;  // of both; another size by now: it is stale
      int32_t id;     // what they become
    };
    std::vector<Symbol> symbols;
    std::vector<Merge> agenda;  // a heap
    // Unused pieces, and the sizes of the two that they were made of.
    std::unordered_map<std::string, std::pair<uint32_t, uint32_t>> made_of;
  };

  // `texts`: the pieces as they stand in normalised text, empty for those that never do.
  SentencePieceBpe(const SentencePieceModel& model, const std::vector<std::string>& texts);

  // Replaces `tokens` by those of a part of the text that no piece reaches across.
  void encode(std::string_view part, Scratch& scratch, std::vector<PieceToken>& tokens) const;

 private:
  void split_into_symbols(std::string_view part, Scratch& scratch) const;
  void offer(std::string_view part, int32_t left, int32_t right, Scratch& scratch) const;
  void append(std::string_view text, const Scratch& scratch, std::vector<PieceToken>& tokens) const;

  DoubleArray trie_, user_defined_;
  std::optional<PairTable> merges_;
  std::vector<float> scores_;  // by id
  std::vector<bool> unused_;
  int32_t unknown_;
};

}  // namespace ingot
