// SentencePiece's BPE encoder: neighbours that together are a piece merge, best score first. For
// Hugging Face's models: neighbours merge by a list of merges.
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
  // Scratch memory, owned by the caller.
  struct Scratch {
    struct Symbol {            // a run of text that is one piece so far; doubly linked list
      uint32_t begin, size;    // 0 bytes: merged into its left neighbour
      int32_t previous, next;  // -1: none
      int32_t id;              // with a list of merges; -1: unknown
      bool frozen;             // user-defined: never merged
    };
    struct Merge {
      float score;
      int32_t left, right;
      uint32_t size;  // of both; stale if their size has changed
      int32_t id;     // the result of the merge
    };
    std::vector<Symbol> symbols;
    std::vector<Merge> agenda;  // a heap
    // Unused pieces, and the sizes of the two pieces they were merged from.
    std::unordered_map<std::string, std::pair<uint32_t, uint32_t>> made_of;
  };

  // `texts`: the pieces as spelt in normalised text; empty for pieces that never occur there.
  SentencePieceBpe(const SentencePieceModel& model, const std::vector<std::string>& texts);

  // Replaces `tokens` by the tokens of a part of the text that no piece crosses.
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
